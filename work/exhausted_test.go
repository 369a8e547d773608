package work

import (
	"strings"
	"testing"
)

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
