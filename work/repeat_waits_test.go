package work

import (
	"strings"
	"testing"
)

// TestASeriesOutlastsWhatItsRepetitionsLack: ends wait until there are ids or a partition again,
// and the log names once what is missing. Effects come at once, and only once. So does each on_fail
// task.
func TestASeriesOutlastsWhatItsRepetitionsLack(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		// SQL to make the table, to take away what the repetitions need, and to give it back.
		table, take, give string
		says              []string
	}{
		"ids": {
			"", "SELECT setval('task_id_seq', 9223372036854775807)", "SELECT setval('task_id_seq', 1000)",
			[]string{"no ids are left", "reached maximum value", "task_id_seq", "setval"},
		},
		"partition": {
			withoutChildren, "", partitionOfChildren,
			[]string{"has no partition for what follows", `no partition of relation \"task\"`, "make the partition"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.exec(c.table)
			s.serve()
			s.settled()
			s.exec("CREATE TABLE effect (id int8)")
			states := map[int64]string{}
			for i, one := range [][2]string{
				{"SELECT 1", "DONE"},
				{"INSERT INTO effect VALUES (1)", "DONE"},
				{"VACUUM effect", "DONE"},
				{"SELECT 1/0", "FAIL"},
				{"BEGIN; INSERT INTO effect VALUES (2); COMMIT", "DONE"},
			} {
				states[s.add(`input, repeat, plan, "group"`, one[0], "1 day", "infinity", string(rune('a'+i)))] = one[1]
			}
			states[s.add(`input, cron, plan, "group"`, "INSERT INTO effect VALUES (3)", "@every 2000h", "infinity", "cron")] = "DONE"
			states[s.add(`input, repeat, plan, overlap, max_failures, "group"`, "SELECT 1", "1 day", "infinity", true, 1, "overlap")] = "DONE"
			states[s.add(`input, on_fail, plan, "group"`, "SELECT 1/0", "SELECT 'then'", "infinity", "fails")] = "FAIL"
			late := s.add(`input, repeat, plan, active`, "SELECT 1", "1 day", "infinity", "1 min")
			s.exec(c.take)
			s.exec("UPDATE task SET plan = now() - CASE WHEN id = $1 THEN interval '1 hour' ELSE '0' END", late)
			s.says(append(c.says, `"error"`)...)
			s.eventually("1 2 3", "SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect")
			for id := range states {
				s.eventually("true", "SELECT state IN ('PLAN', 'WORK') FROM task WHERE id = $1", id)
			}
			s.becomes(s.add("id, input", 500, "INSERT INTO effect SELECT 4 WHERE false"), "DONE")
			s.exec(c.give)
			for id, state := range states {
				s.becomes(id, state)
				if n := s.get("SELECT count(*) FROM task WHERE parent = $1", id); n != "1" {
					t.Errorf("%s: %s tasks follow", s.row(id, "input, state, error"), n)
				}
			}
			if n := s.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect"); n != "1 2 3" {
				t.Errorf("effects: %s", n)
			}
			if state := s.state(late); state == "GONE" && s.get("SELECT count(*) FROM task WHERE parent = $1", late) != "1" {
				t.Error("it has expired without a repetition: ", s.row(late, "error"))
			}
			if n := strings.Count(s.logged(), c.says[0]); n != 1 {
				t.Errorf("the log says so %d times", n)
			}
		})
	}
}
