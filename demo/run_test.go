package demo_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestProgram runs the built program.
func TestProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "pgtaskd")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "pgtaskd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"throw-away":            testThrowAway,
		"ended while it starts": testEndedWhileItStarts,
		"somebody else's":       testDSN,
		"empty":                 testEmpty,
		"the leader is killed":  testKill,
		"out of reach":          testUnreachable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

// limit bounds each wait, on a busy machine.
const limit = time.Minute

// demo is a run of the built program.
type demo struct {
	t      *testing.T
	temp   string // its TMPDIR
	cmd    *exec.Cmd
	lines  chan string
	errors bytes.Buffer
}

// start starts the demo without a terminal.
func start(t *testing.T, program string, args ...string) *demo {
	t.Helper()
	temp, err := os.MkdirTemp("", "demo-") // not below t.TempDir(), which the server's user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	d := &demo{t: t, temp: temp, cmd: exec.Command(program, append([]string{"demo"}, args...)...), lines: make(chan string, 10000)}
	d.cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	d.cmd.Stderr = &d.errors
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() }) // it has ended by then, unless the test has failed
	go func() {
		defer close(d.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			d.lines <- scanner.Text()
		}
	}()
	return d
}

// await reads lines until each pattern has matched, and returns the matching line for each.
func (d *demo) await(patterns ...string) []string {
	d.t.Helper()
	met := make([]string, len(patterns))
	deadline := time.After(limit)
	var all []string
	for missing := len(patterns); missing > 0; {
		select {
		case line, ok := <-d.lines:
			if !ok {
				err := d.cmd.Wait()
				d.t.Fatalf("it ended (%v) before all was met: %q\nafter\n%s\n%s", err, met, strings.Join(all, "\n"), d.errors.String())
			}
			all = append(all, line)
			for i, pattern := range patterns {
				if met[i] == "" && regexp.MustCompile(pattern).MatchString(line) {
					met[i] = line
					missing--
				}
			}
		case <-deadline:
			d.t.Fatalf("not all was met: %q\nafter\n%s", met, strings.Join(all, "\n"))
		}
	}
	return met
}

// takeover is what leaders say about those that were killed before.
var takeover = regexp.MustCompile(`(?m)^{"level":"warn","controller":"controller [^1].*\n`)

// end sends a signal; the demo must end well and leave nothing in its TMPDIR.
func (d *demo) end(signal os.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(signal); err != nil {
		d.t.Fatal(err)
	}
	for range d.lines { // read to the end, or output could be cut off
	}
	err := d.cmd.Wait()
	if said := takeover.ReplaceAllString(d.errors.String(), ""); err != nil || said != "" {
		d.t.Errorf("%v\n%s", err, said)
	}
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		d.t.Errorf("left behind: %v %v", left, err)
	}
}

func testThrowAway(t *testing.T, program string) {
	d := start(t, program)
	met := d.await(`^psql `, `^Starting a throw-away`, `^The page: http://127\.0\.0\.1:\d+/  \(token: \w{20,}\)$`, `^Metrics: http://127\.0\.0\.1:\d+/metrics$`,
		`^States: .*\* marks your own tasks`,
		`^\d\d:\d\d:\d\d task \d+ DONE hello: hello, world$`,
		` PLAN in 3 s: in \d\.\d s, SELECT`, ` DONE in 3 s: three seconds later$`,
		` DONE on the 10 s: \d\d:\d\d:\d0\.`,
		` DONE every 2 s: `,
		` FAIL fails: ERROR:  division by zero$`,
		` WORK one at a time: `, ` WORK two at once: `, ` WORK four at once: `, ` DONE four at once: file 12$`,
		` DONE pause 1.5 s: `,
		` FAIL timeout 1 s: ERROR:  canceling statement due to statement timeout$`,
		` DONE remote: courier from 127\.0\.0\.1$`,
		` DONE csv: "id","note"↵1,"a ""word"""↵2,$`,
		` DONE by data: dear Grace$`,
		` DONE notice: DO↵NOTICE:  half way$`,
		` WORK stopped: `, ` STOP stopped: ERROR:  canceling statement due to user request$`,
		` DONE tidy up: DELETE \d+$`,
	)
	psql := met[0]
	folder := regexp.MustCompile(`host=(\S+)`).FindStringSubmatch(psql)[1]
	if _, err := os.Stat(folder); err != nil {
		t.Fatal(err)
	}

	d.paste(psql, "INSERT INTO task (input) VALUES ('SELECT 20 + 3')")
	d.await(` task \d+\* DONE group: 23$`)

	d.end(syscall.SIGTERM)
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", folder, err)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		if line, err := os.ReadFile(command); err == nil && bytes.Contains(line, []byte(folder)) {
			t.Errorf("still there: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
}

// paste runs SQL with the command that the demo has printed.
func (d *demo) paste(psql, sql string) {
	d.t.Helper()
	bindir, err := server.Bindir()
	if err != nil {
		d.t.Fatal(err)
	}
	paste := exec.CommandContext(d.t.Context(), "sh", "-c", psql+` -c "`+sql+`"`)
	paste.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+bindir)
	if out, err := paste.CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", psql, err, out)
	}
}

// page is the demo's page as its visitor sees it, logged in.
type page struct {
	t      *testing.T
	url    string
	client *http.Client
}

// visit logs in with the token that the demo has printed.
func visit(t *testing.T, line string) *page {
	t.Helper()
	found := regexp.MustCompile(`(http://\S+)/  \(token: (\w+)\)`).FindStringSubmatch(line)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, found[1], &http.Client{Jar: jar}}
	p.post("/login", url.Values{"token": {found[2]}})
	return p
}

// post sends a form, and follows where it leads.
func (p *page) post(path string, form url.Values) {
	p.t.Helper()
	response, err := p.client.PostForm(p.url+path, form)
	if err != nil {
		p.t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s", path, response.Status)
	}
}

// shows waits until a page has a text that matches.
func (p *page) shows(path, pattern string) {
	p.t.Helper()
	last := ""
	servertest.Wait(p.t, limit, path+" with "+pattern, func() bool {
		response, err := p.client.Get(p.url + path)
		if err != nil {
			p.t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		last = string(text)
		return err == nil && response.StatusCode == http.StatusOK && regexp.MustCompile(pattern).MatchString(last)
	}, func() string { return last })
}

func testEmpty(t *testing.T, program string) {
	d := start(t, program, "--empty")
	met := d.await(`^psql `, `^The page: `, `^There are no examples: insert`)
	p := visit(t, met[1])
	p.shows("/tasks", "No task matches")
	d.paste(met[0], "INSERT INTO task (input, key, repeat) VALUES ('SELECT pg_sleep(1)', 'mine', '2 s')")
	const mark = `(?s)<tr data-key="(demo/public/task )?%s".*class="yours"`
	for _, path := range []string{"/", "/tasks", "/running"} {
		p.shows(path, fmt.Sprintf(mark, `\d+`))
	}
	p.shows("/tasks", fmt.Sprintf(mark, "2")) // a repetition
	d.await(` task 1\* WORK `, ` task 2\* DONE `)
	d.end(os.Interrupt)
}

// testKill kills two leaders; tasks go on, and the page follows.
func testKill(t *testing.T, program string) {
	d := start(t, program)
	p := visit(t, d.await(`^The page: `, ` DONE every 2 s: `)[0])
	for next := 2; next <= 3; next++ {
		p.post("/kill", url.Values{"back": {"/tasks"}})
		d.await(fmt.Sprintf(`^The leader was killed; controller %d leads after \d+\.\d s\.$`, next))
		d.await(` DONE every 2 s: `)
		p.shows("/", `led by .* process \d+.* since`)
		p.shows("/", `this controller leads`)
	}
	d.end(os.Interrupt)
}

func testEndedWhileItStarts(t *testing.T, program string) {
	d := start(t, program)
	servertest.Wait(t, limit, "its folder", func() bool {
		made, err := os.ReadDir(d.temp)
		return err != nil || len(made) > 0
	})
	d.end(os.Interrupt)
}

func testDSN(t *testing.T, program string) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	const mine = `INSERT INTO task ("group", plan, repeat, input) VALUES ('every 2 s', 'infinity', '2 s', 'mine')`
	servertest.Exec(t, conn, schema.DDL(sql.Table{Schema: "public", Name: "task"}, schema.Options{})+mine)

	d := start(t, program, "--dsn", dsn)
	d.await(`The examples stay`, `^psql `, ` DONE every 2 s: `, ` WORK four at once: `)
	d.end(os.Interrupt)

	var ended, open int
	var other string
	err := conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state = 'DONE'), count(*) FILTER (WHERE state IN ('PLAN', 'TAKE', 'WORK') AND input <> 'mine'),
		max(state::text) FILTER (WHERE input = 'mine') FROM task`).Scan(&ended, &open, &other)
	if err != nil || ended == 0 || open > 0 || other != "PLAN" {
		t.Errorf("%d ended, %d may still run, the task that was there is %s (%v)", ended, open, other, err)
	}
}

func testUnreachable(t *testing.T, program string) {
	cmd := exec.CommandContext(t.Context(), program, "demo", "--dsn", "host=/nowhere dbname=none password=secret")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !bytes.Contains(out, []byte("/nowhere")) || bytes.Contains(out, []byte("secret")) {
		t.Errorf("%v\n%s", err, out)
	}
}
