//go:build slow

package work

import (
	"testing"
)

// TestAnEndIsWrittenToNoTableThatWasGivenAway: the table, or a part of it, comes to belong to somebody
// else while a task runs.
func TestAnEndIsWrittenToNoTableThatWasGivenAway(t *testing.T) {
	t.Parallel()
	for given, isolation := range map[string]string{"task": "", "task ": "SET default_transaction_isolation = 'repeatable read'; ", "child": ""} {
		t.Run(given+isolation, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			thief := s.role()
			s.serve()
			s.settled()
			s.exec(`CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine TO PUBLIC; CREATE SEQUENCE mine.calls; CREATE TABLE gate (); CREATE TABLE effect (id int8);
				CREATE FUNCTION mine.proves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('mine.calls'); RETURN NEW; END$$`)
			if given == "child" {
				s.exec("CREATE TABLE child () INHERITS (task)")
				s.eventually("1", "SELECT count(*) FROM pg_class WHERE relname = 'child'")
				s.becomes(s.add("input", "SELECT 1"), "DONE")
			}
			gate := s.connect()
			must(t, gate, "BEGIN; LOCK TABLE gate")
			id := s.add("input, rerun", isolation+"INSERT INTO effect VALUES (1); SELECT FROM gate", false)
			s.becomes(id, "WORK")
			s.exec("SELECT pg_sleep(1)") // it lasts
			s.exec("ALTER TABLE " + given + " OWNER TO " + thief + "; GRANT ALL ON task TO PUBLIC")
			s.exec("CREATE TRIGGER evil BEFORE UPDATE ON " + given + " FOR EACH STATEMENT EXECUTE FUNCTION mine.proves()")
			s.says("belongs to role " + thief)
			must(t, gate, "COMMIT")
			s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND state <> 'idle'")
			s.drain()
			if s.get("SELECT is_called FROM mine.calls") != "false" || s.get("SELECT count(*) FROM effect") != "0" {
				t.Errorf("the end is written: %s", s.row(id, "state, error"))
			}
		})
	}
}
