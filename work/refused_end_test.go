package work

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestEndsThatTheTableRefuses: whatever refuses an end, its task FAILs once, with what the row can hold, and nothing waits for it.
func TestEndsThatTheTableRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ddl, error string }{
		"a CHECK on the output":                     {"ALTER TABLE task ADD CHECK (output IS NULL OR output NOT LIKE '%too much%')", "ERROR:  %new row for relation \"task\" violates check constraint%"},
		"a CHECK that knows no FAIL with an output": {"ALTER TABLE task ADD CHECK (output IS NULL)", "ERROR:  %violates check%"},
		"a short domain":                            {"CREATE DOMAIN brief AS varchar(100); ALTER TABLE task ALTER output TYPE brief, ALTER error TYPE brief", "ERROR:  %"},
		"a shorter one":                             {"ALTER TABLE task ALTER output TYPE varchar(40), ALTER error TYPE varchar(40)", "ERROR:  end could not be written"},
		"no error may be":                           {"ALTER TABLE task ADD CHECK (output IS NULL), ADD CHECK (error IS NULL), ADD CHECK (sqlstate IS NULL)", ""},
		"an index":                                  {"CREATE INDEX ON task (output)", "ERROR:  %index row %"},
		"a trigger that raises":                     {"CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.output LIKE '%too much%' THEN RAISE 'mine'; END IF; RETURN NEW; END$$; " + "CREATE TRIGGER mine BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION mine()", "ERROR:  %mine%"},
		"a trigger that is silent":                  {"CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.output LIKE '%too much%' THEN RETURN NULL; END IF; RETURN NEW; END$$; " + "CREATE TRIGGER mine BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION mine()", "ERROR:  task was changed while it ran%"},
		"a partition that is not there": {"DROP TABLE task; CREATE TABLE task (id bigserial, state state NOT NULL DEFAULT 'PLAN', input text NOT NULL) PARTITION BY LIST (state); " +
			"CREATE TABLE task_open PARTITION OF task FOR VALUES IN ('PLAN', 'TAKE', 'WORK', 'FAIL')", "ERROR:  %no partition%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.installed()
			s.exec("CREATE TABLE ran (what text)")
			s.exec(c.ddl)
			s.serve()
			s.settled()
			long := "'too much ' || string_agg(md5(n::text), '') FROM generate_series(1, 1000) AS n"
			elsewhere := servertest.Database(t)
			ids := map[string]int64{
				"query":   s.add("input", "SELECT "+long),
				"writes":  s.add("input", "INSERT INTO ran VALUES ('writes'); SELECT "+long),
				"commits": s.add("input, retry", "INSERT INTO ran VALUES ('commits'); COMMIT; SELECT "+long, 3),
				"remote":  s.add("input, remote", "SELECT "+long, elsewhere),
				"fails":   s.add("input", "INSERT INTO ran VALUES ('fails'); DO $$BEGIN RAISE '%', 'too much ' || repeat('x', 200); END$$"),
			}
			for _, id := range ids {
				s.becomes(id, "FAIL")
			}
			for what, id := range ids {
				if what == "fails" {
					continue
				}
				if s.get("SELECT coalesce(error, '') LIKE $2 AND attempt = 1 FROM task WHERE id = $1", id, c.error) != "true" {
					t.Error(what, s.row(id, "attempt, left(error, 200) AS error"))
				}
			}
			if got := s.get("SELECT string_agg(what, ' ') FROM ran"); got != "commits" {
				t.Error("effects: ", got)
			}
		})
	}
}

// TestRowThatTakesNoEnd: it is left alone, and does not run again; its lane is free.
func TestRowThatTakesNoEnd(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE ran (id int8)")
	s.refuse("UPDATE", "NEW.state NOT IN ('PLAN', 'TAKE', 'WORK')")
	odd := s.add("input, data", "INSERT INTO ran VALUES (current_setting('pg_task.id')::int8); COMMIT; SELECT 1", "odd")
	s.until("given up", func() bool { return strings.Contains(s.logged(), "refuses every end") })
	s.becomes(s.add("input", "SELECT 'its lane'"), "DONE")
	s.others()
	if n := s.get("SELECT count(*) FROM ran WHERE id = $1", odd); n != "1" {
		t.Error("it has run ", n, " times")
	}
	if s.leads() != 1 {
		t.Error("led ", s.leads(), " times")
	}
}
