package work

import (
	"strings"
	"testing"
)

func TestMarkRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	odd := s.add(`input, data`, "SELECT pg_sleep(0.5)", "odd")
	s.until("refused", func() bool { return strings.Contains(s.logged(), "refuses the mark") })
	s.others()
	s.becomes(odd, "DONE", "FAIL")
	s.others()
}

// TestFirstMarkRefused: what must be marked before it starts, and can't be, FAILs.
func TestFirstMarkRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	odd := s.add(`input, data`, "VACUUM task", "odd")
	s.others()
	s.becomes(odd, "FAIL")
}

func TestEveryEndRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state NOT IN ('PLAN', 'TAKE', 'WORK')")
	s.add(`input, data`, "SELECT 1", "odd")
	s.add(`input, data`, "SELECT 1/0", "odd")
	s.others()
	s.others()
}

func TestPlanRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'PLAN'")
	odd := s.add(`input, data, "group"`, "SELECT pg_sleep(60)", "odd", "a")
	s.becomes(odd, "WORK")
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("UPDATE task SET pid = 1, state = 'WORK' WHERE id = $1", odd) // as if an old leader had left it
	s.exec("RESET session_replication_role; RESET application_name")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
	s.quiet()
	s.others()
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK') AND data IS NULL")
	s.others()
}

func TestExpireRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'GONE'")
	s.exec("INSERT INTO task (input, data, plan) VALUES ('SELECT 1', 'odd', now() - interval '1 day')")
	s.others()
	s.others()
}

// TestUnchangeable: rows that a trigger or policy lets be seen and silently not be changed are not
// looked at without end.
func TestUnchangeable(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION silent() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' THEN RETURN NULL; END IF; RETURN NEW; END$$")
	s.exec("CREATE TRIGGER silent BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION silent()")
	s.add("input, data", "SELECT 1", "odd")
	s.others()
	s.calm()
}

// TestTriggerWithPath: a trigger of the user's may name what is in its path, as it does when they
// update the row themselves.
func TestTriggerWithPath(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE audit (id int8, state text)")
	s.exec("CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO audit VALUES (NEW.id, NEW.state); RETURN NULL; END$$")
	s.exec("CREATE TRIGGER audited AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION audited()")
	s.others()
}
