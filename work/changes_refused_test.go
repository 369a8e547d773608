package work

import "testing"

// TestRefusedChangesOfOneRowStopNoOther: a trigger refuses a change of one row; other tasks run.
func TestRefusedChangesOfOneRowStopNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses string // a condition on the new row
		add     func(s *stage) (odd int64)
		states  []string // states that it may reach; none: any
	}{
		"mark": {"NEW.state = 'WORK'", func(s *stage) int64 {
			odd := s.add(`input, data`, "SELECT pg_sleep(0.5)", "odd")
			s.says("refuses the mark")
			return odd
		}, []string{"DONE", "FAIL"}},
		"mark before the start": {"NEW.state = 'WORK'", func(s *stage) int64 {
			return s.add(`input, data`, "VACUUM task", "odd")
		}, []string{"FAIL"}},
		"end": {"NEW.state NOT IN ('PLAN', 'TAKE', 'WORK')", func(s *stage) int64 {
			s.add(`input, data`, "SELECT 1", "odd")
			return s.add(`input, data`, "SELECT 1/0", "odd")
		}, nil},
		"expiry": {"NEW.state = 'GONE'", func(s *stage) int64 {
			return s.add("input, data, plan", "SELECT 1", "odd", s.get("SELECT now() - interval '1 day'"))
		}, nil},
		"return to PLAN": {"NEW.state = 'PLAN'", func(s *stage) int64 {
			odd := s.add(`input, data, "group"`, "SELECT pg_sleep(60)", "odd", "a")
			s.becomes(odd, "WORK")
			s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
			s.exec("UPDATE task SET pid = 1, state = 'WORK' WHERE id = $1", odd) // as if an old leader had left it
			s.exec("RESET session_replication_role; RESET application_name")
			s.exec("SELECT pg_terminate_backend(pid) " + sessions)
			s.quiet()
			return odd
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.refuse("UPDATE", c.refuses)
			odd := c.add(s)
			s.others()
			if c.states != nil {
				s.becomes(odd, c.states...)
			}
			s.others()
		})
	}
}

// TestRowsThatATriggerKeepsAreNotReadWithoutEnd: a trigger silently discards each update of a row.
// The leader must not read the row again and again.
func TestRowsThatATriggerKeepsAreNotReadWithoutEnd(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION silent() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' THEN RETURN NULL; END IF; RETURN NEW; END$$")
	s.exec("CREATE TRIGGER silent BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION silent()")
	s.add("input, data", "SELECT 1", "odd")
	s.others()
	s.calm()
}
