//go:build slow

package work

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// counts makes a table that counts runs, and returns an input that adds to it and commits.
func (s *stage) counts() (input string) {
	s.t.Helper()
	s.exec("CREATE TABLE ran (id int8)")
	return "INSERT INTO ran VALUES (current_setting('pg_task.id')::int8); COMMIT; SELECT 1"
}

func (s *stage) ran(id int64) string {
	s.t.Helper()
	return s.get("SELECT count(*) FROM ran WHERE id = $1", id)
}

// TestRowThatTakesNoEnd: the row is left alone, and its task does not run again until somebody sets
// it to PLAN. Its lane is free.
func TestRowThatTakesNoEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ do, state string }{
		"a trigger raises":              {"RAISE 'mine'", "WORK"},
		"a trigger is silent":           {"RETURN NULL", "WORK"},
		"a trigger keeps the row":       {"RETURN OLD", "WORK"},
		"a trigger keeps it under way":  {"NEW.state := OLD.state; RETURN NEW", "WORK"},
		"a trigger makes it look begun": {"NEW.state := 'WORK'; RETURN NEW", "WORK"},
		"a CHECK":                       {"", "WORK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			input := s.counts()
			switch c.do {
			case "":
				s.exec("ALTER TABLE task ADD CONSTRAINT mine CHECK (data <> 'odd' OR state NOT IN ('DONE', 'FAIL'))")
			default:
				s.change(c.do, "NEW.state NOT IN ('PLAN', 'TAKE', 'WORK', 'STOP')")
			}
			odd := s.add("input, data, repeat", input, "odd", "1 day")
			s.until("given up", func() bool { return strings.Contains(s.logged(), "refuses every end") })
			s.becomes(s.add("input", "SELECT 'its lane'"), "DONE")
			s.others()
			if state, n := s.state(odd), s.ran(odd); state != c.state || n != "1" {
				t.Error(state, " ", n, " times")
			}

			// Somebody mends the table, and sets the row to PLAN.
			s.exec("ALTER TABLE task DROP CONSTRAINT IF EXISTS mine; DROP TRIGGER IF EXISTS mine ON task; UPDATE task SET state = 'PLAN' WHERE data = 'odd'")
			s.becomes(odd, "DONE")
			if s.leads() != 1 {
				t.Error("led ", s.leads(), " times")
			}
		})
	}
}

// change makes a trigger act on updates of the row with data 'odd', under a condition on NEW.
func (s *stage) change(do, condition string) {
	s.t.Helper()
	s.exec("CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' AND " + condition + " THEN " + do + "; END IF; RETURN NEW; END$$; " +
		"CREATE TRIGGER mine BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION mine()")
}

// TestTriggersThatKeepTheRow: a trigger undoes our change of a row. We must not go on as if the
// change had been made.
func TestTriggersThatKeepTheRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ when, columns, input, state, ran, error string }{
		"marked first":    {"NEW.state = 'WORK'", "rerun once", "", "FAIL", "0", "ERROR:  the start of the task could not be written%"},
		"to be retried":   {"NEW.state = 'PLAN'", "rerun", "SELECT 1/0", "FAIL", "0", "ERROR:  division by zero%"},
		"not in time":     {"NEW.state = 'GONE'", "active", "", "PLAN", "0", ""},
		"planned by them": {"NEW.state = 'FAIL'", "save", "SELECT 1/0", "PLAN", "0", "%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			input := s.counts()
			if c.input != "" {
				input = c.input
			}
			do := "RETURN OLD"
			if name == "planned by them" { // this is their right
				do = "NEW.state := 'PLAN'; NEW.plan := 'infinity'; RETURN NEW"
			}
			s.change(do, c.when)
			odd := s.odd(c.columns, input)
			s.others()
			s.becomes(odd, c.state)
			s.becomes(s.add("input", "SELECT 'its lane'"), "DONE")
			if s.state(odd) != c.state || s.ran(odd) != c.ran || s.get("SELECT coalesce(error, '') LIKE $2 FROM task WHERE id = $1", odd, c.error) != "true" {
				t.Error(s.ran(odd), " times: ", s.row(odd, "state, attempt, error"))
			}
		})
	}
}

func (s *stage) odd(what, input string) int64 {
	s.t.Helper()
	switch what {
	case "rerun":
		return s.add("input, data, rerun, retry", input, "odd", false, 1)
	case "rerun once":
		return s.add("input, data, rerun", input, "odd", false)
	case "active":
		return s.add("input, data, plan, active", input, "odd", "2020-01-01", "1 minute")
	}
	return s.add("input, data", input, "odd")
}

// TestWordsThatTheTableRefuses: a task that ends without a run still ends, without its error.
func TestWordsThatTheTableRefuses(t *testing.T) {
	t.Parallel()
	for name, ddl := range map[string]string{
		"no error":           "ADD CHECK (error IS NULL), ADD CHECK (sqlstate IS NULL)",
		"short ones":         "ALTER error TYPE varchar(20)",
		"NULL is not theirs": "ALTER output SET DEFAULT '', ALTER output SET NOT NULL, ALTER notice SET DEFAULT '', ALTER notice SET NOT NULL, ADD CHECK (error IS NULL)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.installed()
			s.exec("ALTER TABLE task " + ddl)
			servertest.Replicate(t, s.conn, `INSERT INTO task (input, state, pid, start, attempt, rerun) VALUES ('SELECT 1', 'WORK', 2147483647, '2020-01-01', 1, false)`)
			cut := s.add("input", "SELECT 'behind it'") - 1
			s.serve()
			s.settled()
			s.becomes(cut, "FAIL")
			s.becomes(s.add("input, plan, active", "SELECT 1", "2020-01-01", "1 minute"), "GONE")
			stopped := s.add("input", "SELECT pg_sleep(60)")
			s.becomes(stopped, "WORK")
			s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
			s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", stopped)
			superseded := s.add("input, key, retry", "SELECT pg_sleep(0.3); SELECT 1/0", "k", 1)
			s.becomes(superseded, "WORK")
			s.add("input, key, plan", "SELECT 1", "k", "infinity")
			s.becomes(superseded, "GONE")
			s.becomes(s.add("input, remote", "SELECT 1", "nonsense"), "FAIL")
			s.becomes(s.add("input", "SELECT 1"), "DONE", "FAIL")
		})
	}
}
