package work

import (
	"strings"
	"testing"
)

// TestEndIsNotBlamedOnTheInput: where the table refuses the end of a task, the row says so, and
// shows no statement of the task's.
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

// TestRefusalAtCommitBlamesNobody: where the table of the tasks has what waits for COMMIT, it may
// be that or what the SQL has done.
func TestRefusalAtCommitBlamesNobody(t *testing.T) {
	t.Parallel()
	s := play(t)
	const either = "Something was checked at COMMIT that the task's SQL or the write of its end had deferred."
	s.exec("CREATE TABLE effect (id int8 UNIQUE DEFERRABLE INITIALLY DEFERRED); CREATE TABLE word (word text PRIMARY KEY); INSERT INTO word VALUES ('INSERT 0 1')")
	own := s.add("input", "INSERT INTO effect VALUES (1), (1)")
	s.becomes(own, "FAIL")
	if text := s.get("SELECT error FROM task WHERE id = $1", own); !strings.HasPrefix(text, "ERROR:  duplicate key") || !strings.Contains(text, "STATEMENT:  INSERT") || strings.Contains(text, either) {
		t.Error(text)
	}
	s.exec("ALTER TABLE task ADD CONSTRAINT known FOREIGN KEY (output) REFERENCES word DEFERRABLE INITIALLY DEFERRED NOT VALID")
	for input, message := range map[string]string{
		"INSERT INTO effect VALUES (1), (1)":                "duplicate key value violates",
		"INSERT INTO effect VALUES (2) RETURNING 'unknown'": `insert or update on table "task" violates foreign key`,
	} {
		s.until("the table to be looked at again", func() bool {
			id := s.add("input", input)
			s.becomes(id, "FAIL")
			text := s.get("SELECT error FROM task WHERE id = $1", id)
			return strings.HasPrefix(text, "ERROR:  the task could not be committed: "+message) && strings.Contains(text, either) && !strings.Contains(text, "STATEMENT")
		})
	}
	s.becomes(s.add("input", "INSERT INTO effect VALUES (3)"), "DONE")
}

// TestRightThatATriggerMissesIsAskedForOnce: what a trigger or a policy of the table refuses, it
// would refuse again.
func TestRightThatATriggerMissesIsAskedForOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE SEQUENCE runs; CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION denies() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' AND NEW.state = 'DONE' THEN RAISE insufficient_privilege; END IF; RETURN NEW; END$$;" +
		"CREATE TRIGGER denies BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION denies()")
	id := s.add("data, input", "odd", "INSERT INTO effect VALUES (nextval('runs'))")
	s.becomes(id, "FAIL")
	if row := s.row(id, "sqlstate, attempt"); row != `{"sqlstate":"42501","attempt":1}` || s.get("SELECT last_value FROM runs") != "1" {
		t.Error(row, s.get("SELECT last_value FROM runs"))
	}
}
