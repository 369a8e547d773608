package work

import (
	"strings"
	"testing"
	"time"
)

// inParts serves a table in whose partitions rows can have the same id.
func inParts(t *testing.T) *stage {
	t.Helper()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	return s
}

// TestTextsComeFromTheRowThatWasRead: in a partitioned table another row may have the same id. The
// task runs the SQL of its own row, with its own data, however long these are.
func TestTextsComeFromTheRowThatWasRead(t *testing.T) {
	t.Parallel()
	s := inParts(t)
	s.exec("CREATE TABLE effect (what text)")
	long := strings.Repeat("x", 9000)
	for _, elsewhere := range []string{"2020-01-01", "2222-01-01"} { // in partitions before and after it
		s.exec("TRUNCATE effect")
		id := s.add("input, data, plan", "INSERT INTO effect VALUES (left(current_setting('pg_task.data'), 4)); SELECT 1 --"+long, "mine"+long, time.Now().Add(time.Second))
		s.exec("INSERT INTO task (id, input, data, plan, state) VALUES ($1, 'INSERT INTO effect VALUES (''other'')', 'other', $2, 'STOP')", id, elsewhere)
		s.eventually("mine", "SELECT string_agg(what, ' ') FROM effect")
		s.eventually("DONE", "SELECT state FROM task WHERE id = $1 AND data LIKE 'mine%'", id)
	}
}

// TestAnotherRowOfTheSameIDHarmsNoTask: in a partitioned table somebody may insert a row with the
// id of a running task. The task goes on, runs once, ends, and repeats itself once. If the other
// row waits, it then has its turn. If it has ended, it stays as it is.
func TestAnotherRowOfTheSameIDHarmsNoTask(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.exec("CREATE TABLE effect (id int8); CREATE SEQUENCE runs; SELECT pg_advisory_lock(7)")
	s.serve()
	s.settled()
	s.exec("INSERT INTO task (id, plan, input) VALUES (999999, 'infinity', '')")
	cases := []struct{ other, plan, repeat, row, before, after string }{ // plan and repeat are the task's
		{"waits in a partition before", "2022-06-01", "0", "(plan, active, input) VALUES ('2020-06-01', '100 years', 'SELECT 1')", "PLAN 0", "DONE 1 0"},
		{"waits in a partition after", "2020-06-01", "0", "(plan, active, input) VALUES ('2022-06-01', '100 years', 'SELECT 1')", "PLAN 0", "DONE 1 0"},
		{"repeats itself", "today", "1 day", "(state, plan, repeat, stop, notify, on_fail, input) VALUES ('FAIL', '2020-01-01', '1 day', now(), 'heard', 'SELECT 2', '')", "FAIL 0", "FAIL 0 0"},
		{"repeats itself, without a plan", "today", "1 day", "(state, plan, repeat, stop, input) VALUES ('FAIL', 'infinity', '1 day', now(), '')", "FAIL 0", "FAIL 0 0"},
		{"has told its repetition", "today", "1 day", "(state, plan, next, overlap, failures, max_failures, stop, input) VALUES ('FAIL', '2020-01-01', 999999, true, 1, 1, now(), '')", "FAIL 0", "FAIL 0 0"},
	}
	const input = "SELECT nextval('runs'); " + effect + "SELECT pg_advisory_xact_lock_shared(7)"
	ids := make([]int64, len(cases))
	for i, c := range cases {
		ids[i] = s.add(`input, data, "group", plan, active, repeat`, input, "ours", c.other, c.plan, "100 years", c.repeat)
		s.becomes(ids[i], "WORK")
		s.exec("INSERT INTO task "+strings.NewReplacer("(plan", `(id, "group", plan`, "(state", `(id, "group", state`, "VALUES (", "VALUES ($1, $2, ").Replace(c.row), ids[i], c.other)
	}
	for range 2 { // each stop makes the leader look at all running tasks
		stopped := s.add(`input, "group"`, "SELECT pg_sleep(100)", "stopped")
		s.becomes(stopped, "WORK")
		s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
		s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", stopped)
	}
	for i, c := range cases {
		if got := s.get("SELECT string_agg(state || ' ' || attempt, ', ' ORDER BY data) FROM task WHERE id = $1", ids[i]); got != "WORK 1, "+c.before {
			t.Errorf("while it runs, and the other %s: %s", c.other, got)
		}
	}
	s.exec("SELECT pg_advisory_unlock(7)")
	for i, c := range cases {
		s.eventually("DONE 1 0", "SELECT concat_ws(' ', state, attempt, interrupted) FROM task WHERE id = $1 AND data = 'ours'", ids[i])
		s.eventually(c.after, "SELECT concat_ws(' ', state, attempt, interrupted, error) FROM task WHERE id = $1 AND data IS NULL", ids[i])
		want := map[string]string{"0": "0 0", "1 day": "1 1 " + c.other + " 1 day"}[c.repeat] // that follow on either row, and on the task
		if got := s.get(`SELECT concat_ws(' ', (SELECT count(*) FROM task WHERE parent = $1), count(n.id), min(n."group"), min(n.repeat::text)) FROM task AS t
			LEFT JOIN task AS n ON n.id = t.next AND n.parent = t.id WHERE t.id = $1 AND t.data = 'ours'`, ids[i]); got != want {
			t.Errorf("what follows where the other %s: %s", c.other, got)
		}
		if n := s.effects(ids[i]); n != "1" {
			t.Errorf("effects where the other %s: %s", c.other, n)
		}
	}
	if got := s.get("SELECT concat_ws(' ', state, failures, (SELECT last_value FROM runs)) FROM task WHERE id = 999999"); got != "PLAN 0 5" {
		t.Error("what the last of the others calls its repetition, and runs: ", got)
	}
	s.others()
}

// TestWhyThereIsNoRepetitionIsSaidInItsRow: and in no other row with its id.
func TestWhyThereIsNoRepetitionIsSaidInItsRow(t *testing.T) {
	t.Parallel()
	s := inParts(t)
	s.exec("ALTER TABLE task ADD CONSTRAINT odd CHECK (data <> 'odd' OR parent IS NULL)")
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("INSERT INTO task (id, input, plan, active, repeat, data) VALUES ($1, 'SELECT 1', '2020-01-01', '1 s', '1 day', 'odd')", id)
	s.eventually("true", "SELECT error LIKE '%task not active%odd%' FROM task WHERE id = $1 AND data = 'odd'", id)
	if error := s.get("SELECT coalesce(error, 'none') FROM task WHERE id = $1 AND data IS NULL", id); error != "none" {
		t.Error(error)
	}
}

// TestTwoOfOneIDThatEndTogether: each has one repetition.
func TestTwoOfOneIDThatEndTogether(t *testing.T) {
	t.Parallel()
	s := inParts(t)
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec(`INSERT INTO task (id, input, "group", plan, active, repeat)
		SELECT $1::int8, 'SELECT 1', 'g' || i, timestamptz '2020-06-01' + i * interval '1 year', '1 s', '1 day' FROM generate_series(1, 2) AS i`, id)
	s.eventually("2", "SELECT count(*) FROM task WHERE id = $1 AND error LIKE '%not active%' AND next IS NOT NULL", id)
	if groups := s.get(`SELECT string_agg("group", ' ' ORDER BY "group") FROM task WHERE parent = $1`, id); groups != "g1 g2" {
		t.Error(groups)
	}
}

// TestAnotherRowOfTheSameIDTakesNoRepetitionBack: a row that has no beat before until is deleted. A
// task whose next has the same id keeps its next.
func TestAnotherRowOfTheSameIDTakesNoRepetitionBack(t *testing.T) {
	t.Parallel()
	s := inParts(t)
	id := s.add("input, repeat", "SELECT 1", "1 day")
	s.becomes(id, "DONE")
	next := s.get("SELECT next FROM task WHERE id = $1", id)
	s.exec("INSERT INTO task (id, parent, input, cron, until, origin) VALUES ($1::text::int8, $2, 'SELECT 1', '@daily', '2020-01-01', '2020-01-01')", next, id)
	s.eventually("0", "SELECT count(*) FROM task WHERE cron IS NOT NULL")
	if got := s.get("SELECT coalesce(next, 0) FROM task WHERE id = $1", id); got != next {
		t.Errorf("it has %s, and had %s", got, next)
	}
}
