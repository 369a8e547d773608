package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestRefusalOfTheTableIsNotBlamedOnTheInput: where the table refuses that a task is prepared, its
// run is rolled back, and the row says why, and shows no statement of the task's. What the table
// refuses at COMMIT is a refusal like others.
func TestRefusalOfTheTableIsNotBlamedOnTheInput(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8); CREATE TABLE word (word text PRIMARY KEY)")
	s.exec("ALTER TABLE task ADD CHECK (data <> 'silent' OR output IS NULL), ADD CONSTRAINT short CHECK (data <> 'short' OR state <> 'WORK')," +
		"ADD COLUMN known text, ADD FOREIGN KEY (known) REFERENCES word DEFERRABLE INITIALLY DEFERRED")
	s.exec("CREATE FUNCTION knows() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.known := NEW.output; RETURN NEW; END$$;" +
		"CREATE TRIGGER knows BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.data = 'known') EXECUTE FUNCTION knows()")
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	s.exec("CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this effect'; END$$;" +
		"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION late()")
	const unwritten = "ERROR:  the end of the task could not be written: "
	for _, c := range []struct {
		data   string
		effect int
		want   string // state, SQLSTATE, how many effects
		error  string
	}{
		{"odd", 1, "FAIL P0001 0", unwritten + "not this one\nCONTEXT:  PL/pgSQL function "},
		{"short", 2, "FAIL 23514 0", unwritten + `new row for relation "task" violates check constraint "short"` + "\nDETAIL:  "},
		{"silent", 3, "DONE  1", ""},
		{"known", 4, "DONE  1", ""},
		{"even", -5, "FAIL P0001 0", "ERROR:  not this effect\n"}, // that is the task's own
	} {
		id := s.add("data, delete, input", c.data, false, fmt.Sprintf("INSERT INTO effect VALUES (%d)", c.effect))
		s.becomes(id, "DONE", "FAIL")
		got := s.get("SELECT concat(state, ' ', sqlstate, ' ', (SELECT count(*) FROM effect WHERE id = $2)) FROM task WHERE id = $1", id, c.effect)
		text := s.get("SELECT coalesce(error, '') FROM task WHERE id = $1", id)
		if got != c.want || !strings.HasPrefix(text, c.error) || strings.Contains(text, "STATEMENT") != (c.data == "even") {
			t.Errorf("%s: %s: %s", c.data, got, text)
		}
	}
}

// TestRightThatATriggerMissesIsAskedForOnce: what a trigger or a policy of the table refuses, it
// would refuse again. The effects stay, and so does the row.
func TestRightThatATriggerMissesIsAskedForOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE SEQUENCE runs; CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION denies() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' AND NEW.state = 'DONE' THEN RAISE insufficient_privilege; END IF; RETURN NEW; END$$;" +
		"CREATE TRIGGER denies BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION denies()")
	id := s.add("data, input", "odd", "INSERT INTO effect VALUES (nextval('runs'))")
	s.says("table refuses every end of a task", "42501")
	s.others()
	if row := s.row(id, "state, attempt"); row != `{"state":"WORK","attempt":1}` || s.get("SELECT string_agg(id::text, ' ') FROM effect") != "1" {
		t.Error(row, s.get("SELECT last_value FROM runs"))
	}
}
