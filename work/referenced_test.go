//go:build slow

package work

import (
	"strings"
	"testing"
	"time"
)

// TestRowsThatAForeignKeyKeepsAreLoggedOnce: their tasks have ended well, and stay.
func TestRowsThatAForeignKeyKeepsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE bill (task int8 REFERENCES task)")
	s.exec(`WITH tasks AS (INSERT INTO task (input, plan) SELECT 'SELECT 1 WHERE false', 'infinity' FROM generate_series(1, 20) RETURNING id) INSERT INTO bill SELECT id FROM tasks`)
	s.exec("INSERT INTO bill SELECT id FROM task EXCEPT SELECT task FROM bill; UPDATE task SET plan = now()")
	s.eventually("20", "SELECT count(*) FROM task WHERE state = 'DONE'")
	free := s.add("input", "SELECT 1 WHERE false")
	s.becomes(free, "")
	s.others()
	if n := strings.Count(s.logged(), `"level":"error"`); n != 0 {
		t.Errorf("%d errors", n)
	}
	s.until("one warning", func() bool { return strings.Count(s.logged(), `"level":"warn"`) > 0 })
	if n := strings.Count(s.logged(), `"level":"warn"`); n != 1 {
		t.Errorf("%d warnings", n)
	}
}

// TestNoStrangersTriggersFireByADelete: who may refer to the table, and has DELETEs cascade to a
// table with triggers, could run code as whoever deletes. Rows stay, until the key is gone.
func TestNoStrangersTriggersFireByADelete(t *testing.T) {
	t.Parallel()
	for name, table := range someOf(map[string]string{"one table": "", "partitions": parts}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, keeps)
			if table != "" {
				must(t, s.conn, table)
			}
			l := s.installed()
			key := "id"
			if table != "" {
				key = "id, plan"
				s.exec("ALTER TABLE task ADD UNIQUE (id, plan)")
			}
			stranger := s.role()
			s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + stranger + "; GRANT REFERENCES, SELECT ON task TO " + stranger)
			s.exec("CREATE TABLE stolen (who text); GRANT INSERT ON stolen TO PUBLIC")
			theirs := s.connectAs(stranger)
			must(t, theirs, "CREATE TABLE refers (id int8, plan timestamptz, FOREIGN KEY ("+key+") REFERENCES task ("+key+") ON DELETE CASCADE)")
			must(t, theirs, "CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO stolen VALUES (current_user); RETURN NULL; END'")
			must(t, theirs, "CREATE TRIGGER steal AFTER DELETE ON refers FOR EACH ROW EXECUTE FUNCTION steal()")
			s.exec("INSERT INTO task (input, output, plan, state, start, stop) VALUES ('SELECT 1', '1', '2021-01-01', 'DONE', now(), now() - interval '8 days')")
			gone := s.add("input", "SELECT 1 WHERE false")
			must(t, theirs, "INSERT INTO refers SELECT id, plan FROM task")
			s.walked(l)
			s.serve()
			s.becomes(gone, "DONE")
			s.others()
			if got := s.get("SELECT concat((SELECT count(*) FROM task JOIN refers USING (id)), ' ', (SELECT count(*) FROM stolen))"); got != "2 0" {
				t.Errorf("rows that are left, and triggers that fired: %s", got)
			}
			if table == "" { // a repetition for which there is no time would be taken back
				job := s.add("input, cron, plan, until", "SELECT 1", "0 0 1 1 *", time.Now(), time.Now().Add(time.Hour))
				s.eventually("FAIL ERROR:  no run is left before until", "SELECT concat(state, ' ', split_part(error, E'\n', 1)) FROM task WHERE parent = $1", job)
			}
			must(t, theirs, "DROP TABLE refers")
			s.becomes(s.add("input", "SELECT 1 WHERE false"), "")
		})
	}
}

// TestNoStrangersCastRunsByADelete: a key that only looks whether rows refer to the one that is
// deleted calls the cast of their column, as the key's owner but in our transaction, where what is
// put off until COMMIT runs as us. One who refers is named, and nothing is deleted meanwhile.
func TestNoStrangersCastRunsByADelete(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"NO ACTION", "RESTRICT"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.installed()
			stranger := s.role()
			s.exec("CREATE SCHEMA theirs AUTHORIZATION " + stranger + "; GRANT REFERENCES, SELECT ON task TO " + stranger)
			s.exec("CREATE TABLE stolen (who text DEFAULT current_user); GRANT INSERT ON stolen TO PUBLIC")
			theirs := s.connectAs(stranger)
			for _, statement := range []string{
				"SET search_path = theirs; CREATE TYPE id AS ENUM ('a'); GRANT USAGE ON SCHEMA theirs TO PUBLIC; CREATE TABLE late ()",
				"CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.stolen DEFAULT VALUES; RETURN NULL; END'",
				"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()",
				"CREATE FUNCTION number(id) RETURNS int8 LANGUAGE plpgsql AS 'BEGIN INSERT INTO theirs.late DEFAULT VALUES; RETURN -5; END'",
				"CREATE CAST (id AS int8) WITH FUNCTION number(id) AS IMPLICIT; CREATE TABLE refers (id id); INSERT INTO refers VALUES ('a')",
				"ALTER TABLE refers ADD FOREIGN KEY (id) REFERENCES public.task ON DELETE " + action + " NOT VALID",
			} {
				must(t, theirs, statement)
			}
			s.exec("INSERT INTO task (id, state, input) VALUES (-7, 'DONE', 'SELECT 1')")
			s.exec("DELETE FROM task WHERE id = -7")
			if s.get("SELECT count(*) FROM stolen WHERE who <> $1", stranger) != "1" {
				t.Error("the attack does not work at all")
			}
			s.exec("TRUNCATE stolen")
			s.serve()
			kept := s.add("input", "SELECT 1 WHERE false")
			s.becomes(kept, "DONE")
			s.until("a warning of the right", func() bool {
				return strings.Contains(s.logged(), "role "+stranger+" has REFERENCES on table")
			})
			s.until("a warning", func() bool {
				return strings.Contains(s.logged(), "a foreign key of table theirs.refers, which belongs to role "+stranger)
			})
			must(t, theirs, "DROP TABLE refers")
			s.becomes(s.add("input", "SELECT 1 WHERE false"), "")
			if got := s.get("SELECT count(*) FROM stolen"); got != "0" {
				t.Error("code of a stranger's has run")
			}
		})
	}
}

// TestAKeyToAChildKeepsItsRows: a DELETE of the table's is one of the tables that inherit from it.
func TestAKeyToAChildKeepsItsRows(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.installed()
	stranger := s.role()
	s.exec("CREATE TABLE heir (PRIMARY KEY (id)) INHERITS (task); CREATE SCHEMA theirs AUTHORIZATION " + stranger + "; GRANT REFERENCES, SELECT ON heir TO " + stranger)
	must(t, s.connectAs(stranger), "CREATE TABLE theirs.refers (id int8 REFERENCES public.heir ON DELETE CASCADE)")
	s.exec("INSERT INTO heir (id, input) VALUES (-7, 'SELECT 1 WHERE false')")
	s.serve()
	s.becomes(-7, "DONE")
	s.others()
	s.says("a foreign key of table theirs.refers, which belongs to role " + stranger)
	if state := s.state(-7); state != "DONE" {
		t.Errorf("the row is %q", state)
	}
}
