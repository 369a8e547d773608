//go:build slow

package work

import (
	"strings"
	"testing"
)

// TestAnEndIsWrittenToNoTableThatWasGivenAway: the table, or a part of it, comes to belong to somebody
// else while a task runs.
func TestAnEndIsWrittenToNoTableThatWasGivenAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, sql string }{
		"the table":                    {"task", ""},
		"the table, by an old look":    {"task", dated},
		"the type of a column":         {"TYPE state", ""},
		"a child":                      {"child", ""},
		"a child, by an old look":      {"child", dated},
		"a new child, by an old look":  {"late", dated},
		"a new child, by a newer look": {"late", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := c.given
			s := prepared(t)
			thief := s.role()
			s.serve()
			s.settled()
			s.exec(`CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine TO PUBLIC; CREATE SEQUENCE mine.calls; CREATE TABLE gate (); CREATE TABLE effect (id int8);
				CREATE FUNCTION mine.proves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('mine.calls'); RETURN NEW; END$$;
				CREATE FUNCTION mine.shows(state) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('mine.calls'); RETURN 'PLAN'; END$$`)
			if given == "child" {
				s.exec("CREATE TABLE child () INHERITS (task)")
				s.eventually("1", "SELECT count(*) FROM pg_class WHERE relname = 'child'")
				s.becomes(s.add("input", "SELECT 1"), "DONE")
			}
			gate := s.connect()
			must(t, gate, "BEGIN; LOCK TABLE gate")
			id := s.add("input, rerun", c.sql+"INSERT INTO effect VALUES (1); SELECT FROM gate", false)
			s.becomes(id, "WORK")
			s.exec("SELECT pg_sleep(1)") // it lasts
			if given == "late" {
				s.exec("CREATE TABLE late () INHERITS (task)")
			}
			if _, isType := strings.CutPrefix(given, "TYPE "); isType {
				s.exec("ALTER " + given + " OWNER TO " + thief)
				s.exec("CREATE CAST (state AS text) WITH FUNCTION mine.shows(state) AS IMPLICIT")
			} else {
				s.exec("ALTER TABLE " + given + " OWNER TO " + thief + "; GRANT ALL ON task TO PUBLIC")
				s.exec("CREATE TRIGGER evil BEFORE UPDATE ON " + given + " FOR EACH STATEMENT EXECUTE FUNCTION mine.proves()")
			}
			must(t, gate, "COMMIT")
			s.says("belongs to role " + thief)
			s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND state <> 'idle'")
			s.drain()
			if s.get("SELECT is_called FROM mine.calls") != "false" || s.get("SELECT count(*) FROM effect") != "0" {
				t.Errorf("the end is written: %s", s.row(id, "state, error"))
			}
		})
	}
}
