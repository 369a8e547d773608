package smoke

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A running task may end within grace; what waits is left for the next controller.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s1 := own(t, object{"grace": "10 s"})
		u := s1.user(t)
		running := u.add("input", "'SELECT pg_sleep(2)'")
		outside := u.add(`input, "group"`, "'BEGIN; SELECT 1; COMMIT; SELECT pg_sleep(2)', 'outside'")
		u.becomes(running, "WORK")
		u.becomes(outside, "WORK")
		waiting := u.add("input", "'SELECT 2'")
		s1.program.Signal(t, s)
		s1.program.Exits(t, patience, 0)
		u.shows(u.task(running), "state", "DONE", "attempt", "1", "interrupted", "0")
		u.shows(u.task(outside), "state", "DONE")
		u.shows(u.task(waiting), "state", "PLAN", "attempt", "0", "pid", "NULL", "start", "NULL")
		u.until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task%')") // a backend takes its time to go
	}
}

// What still runs after grace is cancelled and goes back, and is none the worse for it.
func TestDrainAfterGrace(t *testing.T) {
	t.Parallel()
	s := own(t, object{"grace": "500 ms"})
	u := s.user(t)
	u.exec("CREATE TABLE effect (a int)")
	id := u.add("input", "'INSERT INTO effect VALUES (1); SELECT pg_sleep(30)'")
	once := u.add(`input, rerun, "group"`, "'BEGIN; COMMIT; SELECT pg_sleep(30)', false, 'once'")
	u.becomes(id, "WORK")
	u.becomes(once, "WORK")
	s.program.Signal(t, syscall.SIGTERM)
	s.program.Exits(t, patience, 0)
	u.shows(u.task(id), "state", "PLAN", "interrupted", "0", "start", "NULL", "stop", "NULL", "attempt", "0")
	u.shows(u.task(once), "state", "FAIL")
	u.is("(SELECT count(*) FROM effect)", "0")
}

// A second signal ends it at once; what ran is cut off and found again.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := own(t, object{"grace": "1 hour"})
	u := s.user(t)
	id := u.add("input", "'SELECT pg_sleep(30)'")
	row := u.becomes(id, "WORK")
	s.program.Signal(t, syscall.SIGTERM)
	s.program.says(t, `"draining"`, 1)
	<-time.After(300 * time.Millisecond) // sooner it would be taken for the first one's echo
	s.program.Signal(t, syscall.SIGTERM)
	s.program.Exits(t, patience, 1)
	u.gone(row.text("pid"))
	u.exec("UPDATE task SET input = 'SELECT 1' WHERE id = " + id)
	again := run(t, "run", "--config", s.conf)
	u.shows(u.becomes(id, "DONE"), "attempt", "2", "interrupted", "1")
	again.Kill()
}

// SIGHUP has the file read again: new targets are served, the others not touched.
func TestReload(t *testing.T) {
	t.Parallel()
	s := own(t, object{})
	u := s.user(t)
	id := u.add("input", "'SELECT pg_sleep(3)'")
	u.becomes(id, "WORK")

	// A file that does not parse changes nothing.
	good, err := os.ReadFile(s.conf)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.conf, "{")
	s.program.Signal(t, syscall.SIGHUP)
	s.program.says(t, "line 1", 1)

	var conf object
	if err := json.Unmarshal(good, &conf); err != nil {
		t.Fatal(err)
	}
	conf["targets"] = append(conf["targets"].([]any), object{"data": s.name, "user": "postgres", "table": "second"})
	text, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.conf, string(text))
	s.program.Signal(t, syscall.SIGHUP)
	s.program.says(t, `"leading"`, 2)
	second := s.user(t)
	second.table = "second"
	second.becomes(second.add("input", "'SELECT 1'"), "DONE")
	u.shows(u.becomes(id, "DONE"), "attempt", "1")

	// Without a signal too; the second is drained.
	write(t, s.conf, string(good))
	s.program.says(t, `"drained"`, 1)
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	if got := strings.Count(s.program.Log.String(), `"leading"`); got != 2 {
		t.Errorf("targets have been led %d times, want 2:\n%s", got, s.program.Log)
	}
}

// write replaces a file as editors do.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestLogReaderGoesAway: the program serves on when nobody reads its log any more.
func TestLogReaderGoesAway(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pgtaskd, "--log-level", "debug", "run", "--config", configure(t, database, object{}))
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for lines := bufio.NewScanner(reader); lines.Scan() && !strings.Contains(lines.Text(), `"leading"`); {
	}
	_ = reader.Close()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil { // it logs that
		t.Fatal(err)
	}
	u := connect(t, postgres.DSN(database))
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.exec("DROP TRIGGER pgtaskd_update ON task") // and that
	u.becomes(u.add("input", "'SELECT 1/0'"), "FAIL")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Error("it does not end")
	}
}
