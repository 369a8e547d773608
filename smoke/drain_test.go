package smoke

import (
	"syscall"
	"testing"
	"time"
)

// TestDrain: a running task may end within grace; waiting tasks are left for the next controller.
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
		// Backends take a moment to end.
		u.until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task%')")
	}
}

// TestDrainAfterGrace: tasks that still run after grace are cancelled and return to PLAN, unharmed.
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

// TestSecondSignal ends the program at once; the running tasks are cut off and found again.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := own(t, object{"grace": "1 hour"})
	u := s.user(t)
	id := u.add("input", "'SELECT pg_sleep(30)'")
	row := u.becomes(id, "WORK")
	s.program.Signal(t, syscall.SIGTERM)
	s.program.says(t, `"draining"`, 1)
	<-time.After(300 * time.Millisecond) // a sooner one would be taken for an echo of the first
	s.program.Signal(t, syscall.SIGTERM)
	s.program.Exits(t, patience, 1)
	u.gone(row.text("pid"))
	u.exec("UPDATE task SET input = 'SELECT 1' WHERE id = " + id)
	again := run(t, "run", "--config", s.conf)
	u.shows(u.becomes(id, "DONE"), "attempt", "2", "interrupted", "1")
	again.Kill()
}
