package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// patient limits how long a test waits.
const patient = 20 * time.Second

// screen keeps the output of a command, and can be read meanwhile.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// daemon is `pgtaskd run` in this process. Its tests do not run in parallel: signals go to the
// whole process.
type daemon struct {
	t      *testing.T
	stderr *screen
	ended  chan error
}

func start(t *testing.T, args ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, stderr: &screen{}, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.ended <- run(ctx, append([]string{"run"}, args...), d.stderr, d.stderr)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if t.Failed() {
			t.Log(d.stderr)
		}
	})
	return d
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) until(what string, done func() bool) {
	d.t.Helper()
	servertest.Wait(d.t, patient, what, done)
}

func (d *daemon) leads(n int) {
	d.t.Helper()
	d.until(fmt.Sprint(n, " leading"), func() bool { return strings.Count(d.stderr.String(), `"leading"`) >= n })
}

func (d *daemon) end() error {
	d.t.Helper()
	select {
	case err := <-d.ended:
		return err
	case <-time.After(patient):
		d.t.Fatal("it does not end")
		return nil
	}
}

func value(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	return servertest.Get(t, conn, sql)
}

func TestRunOneTable(t *testing.T) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	d := start(t, dsn)
	d.leads(1)
	if _, err := conn.Exec(t.Context(), "INSERT INTO task (input) VALUES ('SELECT 1 AS a, 2 AS b'), ('SELECT 1/0')"); err != nil {
		t.Fatal(err)
	}
	const states = "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task"
	d.until("DONE FAIL", func() bool { return value(t, conn, states) == "DONE FAIL" })
	if output := value(t, conn, "SELECT output FROM task WHERE state = 'DONE'"); output != "a\tb\n1\t2" {
		t.Errorf("output %q", output)
	}
	d.signal(syscall.SIGTERM)
	if err := d.end(); err != nil {
		t.Error(err)
	}
}

// TestRunReload: SIGHUP starts, drains and keeps targets; a broken file changes nothing.
func TestRunReload(t *testing.T) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	file := filepath.Join(t.TempDir(), "pgtaskd.json")
	database := value(t, conn, "SELECT current_database()")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	target := func(table string) string {
		return fmt.Sprintf(`{"data": %q, "user": "postgres", "table": %q}`, database, table)
	}
	config := func(tables ...string) string {
		targets := make([]string, len(tables))
		for i, table := range tables {
			targets[i] = target(table)
		}
		return fmt.Sprintf(`{"dsn": %q, "targets": [%s]}`, dsn, strings.Join(targets, ", "))
	}
	write(config("a"))
	d := start(t, "--config", file)
	d.leads(1)
	if _, err := conn.Exec(t.Context(), "INSERT INTO a (input) VALUES ('SELECT pg_sleep(2)')"); err != nil {
		t.Fatal(err)
	}
	d.until("WORK", func() bool { return value(t, conn, "SELECT state FROM a") == "WORK" })
	write(config("a", "b"))
	d.signal(syscall.SIGHUP)
	d.leads(2)
	write("{")
	d.signal(syscall.SIGHUP)
	d.until("a report of the fault", func() bool { return strings.Contains(d.stderr.String(), `"error"`) })
	write(config("b"))
	d.signal(syscall.SIGHUP)
	d.until("drained", func() bool { return strings.Contains(d.stderr.String(), `"drained"`) })
	if row := value(t, conn, "SELECT state || ' ' || attempt FROM a"); row != "DONE 1" {
		t.Error(row)
	}
	d.signal(syscall.SIGTERM)
	if err := d.end(); err != nil {
		t.Error(err)
	}
}

// TestRunSecondSignal: the program ends at once, and the next one finds the running task.
func TestRunSecondSignal(t *testing.T) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	d := start(t, dsn)
	d.leads(1)
	if _, err := conn.Exec(t.Context(), "INSERT INTO task (input) VALUES ('SELECT pg_sleep(60)')"); err != nil {
		t.Fatal(err)
	}
	d.until("WORK", func() bool { return value(t, conn, "SELECT state FROM task") == "WORK" })
	d.signal(syscall.SIGTERM)
	d.until("draining", func() bool { return strings.Contains(d.stderr.String(), "draining") })
	began := time.Now()
	d.until("the second signal counts", func() bool { return time.Since(began) > echo })
	d.signal(syscall.SIGTERM)
	if err := d.end(); err != nil && !errors.Is(err, errSecondSignal) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if took := time.Since(began); took > servertest.Limit(2*time.Second) {
		t.Errorf("it took %s", took)
	}
	start(t, dsn).leads(1)
	d.until("PLAN or WORK again", func() bool { return value(t, conn, "SELECT interrupted FROM task") == "1" })
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"no such command"}, {"run", "host=x", "--config", "/dev/null"}} {
		var usage *usageError
		if err := run(t.Context(), args, &screen{}, &screen{}); !errors.As(err, &usage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	out := &screen{}
	if err := run(t.Context(), []string{"version"}, out, out); err != nil || !strings.HasPrefix(out.String(), "pgtaskd ") {
		t.Error(out, err)
	}
	sql := &screen{} // an error must not hide among the text that it comes from
	if err := run(t.Context(), []string{"schema"}, sql, sql); err != nil || !strings.HasPrefix(sql.String(), "\\set ON_ERROR_STOP on\n\\set SHOW_CONTEXT never\n-- ") {
		t.Errorf("%v: %.100s", err, sql)
	}
	if err := run(t.Context(), []string{"--help"}, out, out); err != nil {
		t.Error(err)
	}
}

// TestArgumentsThatAreWrongAreNamed: in words of the person who gave them.
func TestArgumentsThatAreWrongAreNamed(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"stop":                  "<id> ... is missing",
		"stop x":                `"x" is no id of a task`,
		"stop host=/nowhere":    "give ids of tasks",
		"stop 1 host=/nowhere":  "/nowhere",
		"again 1 nowhere":       "nowhere",
		"act cancel 1 x 2":      `"x" is no id of a task`,
		"show x":                `<id> is "x", which is no number`,
		"ls --number many":      `--number is "many", which is no number`,
		"--log-level loud next": `--log-level must be one of "trace", "debug", "info", "warn", "error" but got "loud"`,
	} {
		var out screen
		err := run(t.Context(), strings.Fields(args), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
