package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestIdsBelowOne are as good as others: what has a cron or an after is planned and runs.
func TestIdsBelowOne(t *testing.T) {
	t.Parallel()
	s := play(t, inBerlin)
	const least = "-9223372036854775808"
	s.exec("INSERT INTO task (id, input) VALUES (-5, 'SELECT 1'), (0, 'SELECT 1')")
	s.exec("INSERT INTO task (id, input, cron) VALUES (-30, 'SELECT 1', '@hourly'), (" + least + ", 'SELECT 1', '@hourly')")
	s.exec("INSERT INTO task (id, input, after) VALUES (-3, 'SELECT 1', '{-5,0}')")
	s.becomes(-3, "DONE")
	s.eventually("2", "SELECT count(*) FROM task WHERE id IN (-30, "+least+") AND state = 'PLAN' AND plan = date_trunc('hour', created) + interval '1 hour' AND origin IS NULL")
}

// TestARepetitionTakesAnotherIDWhenItsIsTaken: somebody has inserted a row with that id.
func TestARepetitionTakesAnotherIDWhenItsIsTaken(t *testing.T) {
	t.Parallel()
	s := play(t)
	for i, input := range []string{"SELECT 1", "CREATE TABLE effect ()", "SELECT 1/0"} {
		id := s.add(`input, repeat, plan, "group"`, input, "1 day", "infinity", fmt.Sprint("g", i))
		s.exec("INSERT INTO task (id, input, plan) SELECT i, '', 'infinity' FROM generate_series($1::int8 + 1, $1 + 50) AS i", id)
		s.exec("UPDATE task SET plan = now() - interval '1 min' WHERE id = $1", id)
		s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
		if next := s.get("SELECT t.next > t.id + 50 AND n.parent = t.id AND n.state = 'PLAN' FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id); next != "true" {
			t.Error(input, next)
		}
		s.exec("SELECT setval('task_id_seq', (SELECT max(id) FROM task))")
	}
}

// TestAnExhaustedSequenceEndsNoSeries: the ends wait until ids are left again, and the log names the
// sequence once. Effects come at once, and once.
func TestAnExhaustedSequenceEndsNoSeries(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	states := map[int64]string{}
	for i, c := range [][2]string{
		{"SELECT 1", "DONE"},
		{"INSERT INTO effect VALUES (1)", "DONE"},
		{"VACUUM effect", "DONE"},
		{"SELECT 1/0", "FAIL"},
		{"BEGIN; INSERT INTO effect VALUES (2); COMMIT", "DONE"},
	} {
		states[s.add(`input, repeat, plan, "group"`, c[0], "1 day", "infinity", string(rune('a'+i)))] = c[1]
	}
	states[s.add(`input, repeat, plan, overlap, max_failures, "group"`, "SELECT 1", "1 day", "infinity", true, 1, "overlap")] = "DONE"
	late := s.add(`input, repeat, plan, active`, "SELECT 1", "1 day", "infinity", "1 min")
	s.exec("SELECT setval('task_id_seq', 9223372036854775807)")
	s.exec("UPDATE task SET plan = now() - CASE WHEN id = $1 THEN interval '1 hour' ELSE '0' END", late)
	s.says(`"error"`, "no ids are left", "reached maximum value", "task_id_seq", "setval")
	s.eventually("2", "SELECT count(*) FROM effect") // effects do not wait for ends
	for id := range states {
		if row := s.row(id, "state IN ('PLAN', 'WORK') AS waits"); row != `{"waits":true}` {
			t.Error(s.row(id, "input, state, stop, error, next, xact"))
		}
	}
	s.becomes(s.add("id, input", 500, "INSERT INTO effect SELECT 3 WHERE false"), "DONE") // what takes no id goes on
	s.exec("SELECT setval('task_id_seq', 1000)")
	for id, state := range states {
		s.becomes(id, state)
		if n := s.get("SELECT count(*) FROM task WHERE parent = $1 AND state = 'PLAN'", id); n != "1" {
			t.Errorf("%s: %s repetitions", s.row(id, "input, state, error"), n)
		}
	}
	if n := s.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect"); n != "1 2" {
		t.Errorf("effects: %s", n)
	}
	if state := s.state(late); state == "GONE" && s.get("SELECT count(*) FROM task WHERE parent = $1", late) != "1" {
		t.Error("it has expired without a repetition: ", s.row(late, "error"))
	}
	if n := strings.Count(s.logged(), "no ids are left"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
}
