package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepetitionRefused: whatever refuses the repetition, the run keeps its result. Its row says
// that the series has ended, and why, and the log says so, too.
func TestRepetitionRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ddl, sqlstate, says string }{
		"a unique column": {"ALTER TABLE task ADD UNIQUE (data)", "23505", "task_data_key"},
		"a unique index":  {`CREATE UNIQUE INDEX mine ON task ("group") WHERE repeat > '0'`, "23505", "mine"},
		"an exclusion":    {`ALTER TABLE task ADD EXCLUDE (repeat WITH =) WHERE (repeat > '0')`, "23P01", "task_repeat_excl"},
		"a trigger that returns null": {`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN NEW.parent IS NULL THEN NEW END; END$$;
			CREATE TRIGGER skip BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION skip()`, "55000", "has left its row out"},
		"a trigger that raises": {`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this one'; END$$;
			CREATE TRIGGER refuse BEFORE INSERT ON task FOR EACH ROW WHEN (NEW.parent IS NOT NULL) EXECUTE FUNCTION refuse()`, "P0001", "not this one"},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (id int8)")
			s.exec(c.ddl)
			var ids []int64
			states := []string{"DONE", "DONE", "FAIL", "GONE"}
			for i, input := range []string{"SELECT 1", effect, "SELECT 1/0", "SELECT 'not in time'"} {
				plan := s.get("SELECT now() - $1 * interval '1 month'", i/3)
				ids = append(ids, s.add(`input, data, "group", repeat, plan, active`, input, input, input, fmt.Sprint(i+1, " days"), plan, "1 week"))
			}
			s.others()
			for i, id := range ids {
				s.becomes(id, states[i])
				told := s.get("SELECT coalesce(error, '') FROM task WHERE id = $1", id)
				if c.ddl == "" {
					if n := s.get("SELECT count(*) FROM task WHERE parent = $1", id); n != "1" {
						t.Errorf("%s: %s repetitions", states[i], n)
					}
					continue
				}
				if !strings.Contains(told, c.says) || strings.Contains(told, "division by zero") != (i == 2) {
					t.Errorf("%s: %s", states[i], told)
				}
				if got := s.get("SELECT sqlstate FROM task WHERE id = $1", id); i < 2 && got != c.sqlstate {
					t.Errorf("%s: %s: %s", states[i], got, told)
				}
				s.says(`"level":"error"`, "the table refuses the repetition of a task; its series has ended", fmt.Sprintf(`"id":%d`, id))
			}
			if n := s.effects(ids[1]); n != "1" {
				t.Error("effects: ", n)
			}
			s.others()
		})
	}
}
