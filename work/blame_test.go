package work

import (
	"strings"
	"testing"
)

// TestEndIsNotBlamedOnTheInput: where the table refuses the end of a task, the row says so, and shows no statement of the task's.
func TestEndIsNotBlamedOnTheInput(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	s.exec("ALTER TABLE task ADD CONSTRAINT short CHECK (data <> 'short' OR state <> 'DONE')")
	s.refuse("UPDATE", "NEW.state = 'DONE'")
	s.exec("CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this effect'; END$$;" +
		"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION late()")
	for _, c := range []struct{ data, input, want, state string }{
		{"odd", "INSERT INTO effect VALUES (1)", "ERROR:  the end of the task could not be written: not this one\nCONTEXT:  PL/pgSQL function refuse()", "P0001"},
		{"odd", "SELECT 1", "ERROR:  the end of the task could not be written: not this one\nCONTEXT:  PL/pgSQL function public.refuse()", "P0001"},
		{"short", "INSERT INTO effect VALUES (1)", `ERROR:  the end of the task could not be written: new row for relation "task" violates check constraint "short"` + "\nDETAIL:  ", "23514"},
		{"even", "INSERT INTO effect VALUES (-1)", "ERROR:  not this effect\n", "P0001"}, // that is the task's own
	} {
		id := s.add("data, input", c.data, c.input)
		s.becomes(id, "FAIL")
		text, state := s.get("SELECT error FROM task WHERE id = $1", id), s.get("SELECT sqlstate FROM task WHERE id = $1", id)
		if !strings.HasPrefix(text, c.want) || state != c.state || strings.Contains(text, "STATEMENT") != !strings.Contains(text, "end of the task") {
			t.Errorf("%s: %s %s", c.input, state, text)
		}
	}
}
