package smoke

import (
	"syscall"
	"testing"
	"time"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestTakeover: one of two controllers leads and the other stands by until the first is gone.
func TestTakeover(t *testing.T) {
	t.Parallel()
	first := own(t, object{})
	second := run(t, "run", "--config", first.conf)
	second.says(t, "standing by", 1)
	u := first.user(t)
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	long := u.add(`input, "group"`, "'SELECT pg_sleep(30)', 'long'")
	lost := u.becomes(long, "WORK").text("pid")
	orphan := u.add(`input, "group"`, "'SELECT pg_sleep(0.5)', 'orphan'")
	u.becomes(orphan, "WORK")

	killed := time.Now()
	first.program.Kill()
	u.exec("UPDATE task SET input = 'SELECT 2' WHERE id = " + long)
	second.says(t, `"leading"`, 1)
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	// The promise is half a second; the rest is for a busy machine. A leader whose end nobody
	// notices is detected after 10 s.
	if took := time.Since(killed); took > servertest.Limit(5*time.Second) {
		t.Errorf("the takeover took %v", took)
	}
	u.gone(lost)
	u.shows(u.becomes(long, "DONE"), "interrupted", "1", "output", "2")
	u.becomes(orphan, "DONE")

	// The first comes back and stands by.
	third := run(t, "run", "--config", first.conf)
	third.says(t, "standing by", 1)
}

// TestHandover: a controller that drains hands over to the other.
func TestHandover(t *testing.T) {
	t.Parallel()
	first := own(t, object{})
	second := run(t, "run", "--config", first.conf)
	second.says(t, "standing by", 1)
	u := first.user(t)
	id := u.add("input", "'SELECT pg_sleep(0.6)'")
	u.becomes(id, "WORK")
	next := u.add("input", "'SELECT 1'")
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	u.shows(u.becomes(id, "DONE"), "attempt", "1")
	u.shows(u.becomes(next, "DONE"), "attempt", "1", "interrupted", "0")
}

// TestFrozenLeader: a frozen leader loses its table, and does no harm when it wakes.
func TestFrozenLeader(t *testing.T) {
	t.Parallel()
	first := own(t, object{})
	second := run(t, "run", "--config", first.conf)
	second.says(t, "standing by", 1)
	u := first.user(t)
	if !major.ClientCheck.Of(u.conn) { // TCP keepalive detects it, later than a test may take
		return
	}
	u.exec("CREATE TABLE effect (id int8)")
	const effect = "'INSERT INTO effect VALUES (current_setting(''pg_task.id'')::int8); SELECT pg_sleep(0.5)'"
	running := u.add("input", effect)
	u.becomes(running, "WORK")
	first.program.Signal(t, syscall.SIGSTOP)
	waiting := u.add("input", effect)
	second.says(t, `"leading"`, 1)
	u.becomes(running, "DONE")
	u.becomes(waiting, "DONE")

	first.program.Signal(t, syscall.SIGCONT)
	first.program.says(t, "standing by", 1)
	last := u.add("input", effect)
	u.becomes(last, "DONE")
	u.is("(SELECT count(*) || ' ' || count(DISTINCT id) FROM effect)", "3 3")
}

// TestOtherLanesDoNotWaitForALongTaskOfAFrozenLeader: other lanes start within 15 s, however long a
// task of the frozen leader runs.
func TestOtherLanesDoNotWaitForALongTaskOfAFrozenLeader(t *testing.T) {
	t.Parallel()
	first, second, u := pair(t)
	if !major.ClientCheck.Of(u.conn) {
		return
	}
	for _, input := range []string{"SELECT pg_sleep(60)", "CREATE TABLE slow (); SELECT pg_sleep(60)", "BEGIN; SELECT pg_sleep(60); COMMIT"} {
		u.becomes(u.add(`input, "group"`, literal(input)+", "+literal(input)), "WORK")
	}
	first.program.Signal(t, syscall.SIGSTOP)
	frozen := time.Now()
	waiting := u.add("input", "'SELECT 1'")
	second.says(t, `"leading"`, 1)
	u.becomes(waiting, "DONE")
	if took := time.Since(frozen); took > servertest.Limit(15*time.Second) {
		t.Errorf("it started after %v", took)
	}
}

// TestALaneGoesOnBehindATaskThatEndedUnderAFrozenLeader: a task of BEGIN and COMMIT has ended while
// its leader was frozen; nobody reads another's output. Their lanes go on.
func TestALaneGoesOnBehindATaskThatEndedUnderAFrozenLeader(t *testing.T) {
	t.Parallel()
	first, second, u := pair(t)
	if !major.ClientCheck.Of(u.conn) {
		return
	}
	ended := u.add(`input, "group"`, "'BEGIN; SELECT pg_sleep(1); COMMIT', 'lane'")
	output := u.add(`input, "group"`, "'SELECT repeat(''x'', 10000), pg_sleep(0.001) FROM generate_series(1, 2000)', 'output'")
	u.becomes(ended, "WORK")
	u.becomes(output, "WORK")
	next := u.add(`input, "group"`, "'SELECT 1', 'lane'")
	first.program.Signal(t, syscall.SIGSTOP)
	second.says(t, `"leading"`, 1)
	u.becomes(next, "DONE")
	u.shows(u.becomes(output, "DONE"), "interrupted", "1")
}

// pair returns a leader, a follower, and a user.
func pair(t *testing.T) (first *served, second program, u *user) {
	t.Helper()
	first = own(t, object{})
	second = run(t, "run", "--config", first.conf)
	second.says(t, "standing by", 1)
	return first, second, first.user(t)
}

// TestADrainHandsTheLeadOverAtOnce: the running tasks go on.
func TestADrainHandsTheLeadOverAtOnce(t *testing.T) {
	t.Parallel()
	first, second, u := pair(t)
	long := u.add(`input, "group"`, "'SELECT pg_sleep(6)', 'long'")
	u.becomes(long, "WORK")
	first.program.Signal(t, syscall.SIGTERM)
	ended := time.Now()
	next := u.add("input", "'SELECT 1'")
	second.says(t, `"leading"`, 1)
	u.becomes(next, "DONE")
	if took := time.Since(ended); took > servertest.Limit(3*time.Second) {
		t.Errorf("the next task ended after %v", took)
	}
	u.shows(u.becomes(long, "DONE"), "attempt", "1", "interrupted", "0")
}
