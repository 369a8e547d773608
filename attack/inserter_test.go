//go:build slow

package attack

import (
	"fmt"
	"strings"
	"testing"
)

// TestInserterStaysItself: tasks that run under their inserter's role run nothing as another role:
// not by what a task leaves in its session, not by what its COMMIT or its end sets off, not by what
// others do with its tables, and not by what it claims about itself.
func TestInserterStaysItself(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", nil)
	table.keys = object{"as": "inserter", "roles": object{s.roles["$m"]: object{}}}
	s.configure(nil)
	s.exec(s.safe, "ALTER ROLE $o SET search_path = own")
	p := run(t, "--config", s.config)
	if _, said := p.says(s.logged(table), 0, servedIn, leading); !said {
		t.Fatal("it is not served")
	}
	s.exec(s.safe, `GRANT USAGE ON SCHEMA own TO $m; GRANT SELECT, INSERT, UPDATE, DELETE ON own.task TO $m; GRANT USAGE ON ALL SEQUENCES IN SCHEMA own TO $m;
		GRANT TEMPORARY ON DATABASE $d TO $m`)
	s.exec(s.as("$o"), `CREATE TABLE own.audit (what text); CREATE FUNCTION own.audit() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO audit VALUES (lower('X')); RETURN NEW; END$f$;
		CREATE TRIGGER audit AFTER UPDATE ON own.task FOR EACH ROW EXECUTE FUNCTION own.audit()`)
	s.exec(s.mallory, `CREATE TABLE kit.late (id int8);
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON kit.late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION kit.fire();
		CREATE FUNCTION kit.lower(text) RETURNS text LANGUAGE plpgsql AS $f$BEGIN PERFORM kit.caught('lower'); RETURN $1; END$f$;
		CREATE FUNCTION kit.inserts() RETURNS int8 LANGUAGE sql AS $f$INSERT INTO own.task (input, role) VALUES ('SELECT kit.caught(''index'')', 'postgres') RETURNING id$f$;
		CREATE FUNCTION kit.adds(int8) RETURNS int8 IMMUTABLE LANGUAGE plpgsql AS $f$BEGIN RETURN kit.inserts(); END$f$;
		CREATE INDEX ON kit.late (kit.adds(id))`)
	s.exec(s.mallory, strings.ReplaceAll(file(t, "operators"), "$n", "kit"))
	const grabs = "SELECT kit.caught('input'); INSERT INTO kit.late VALUES (1)"
	var ids []string
	for i, input := range []string{
		grabs, "SET search_path = kit, pg_catalog; " + grabs, "CREATE TEMP TABLE audit (what text); CREATE TRIGGER fire BEFORE INSERT ON pg_temp.audit FOR EACH ROW EXECUTE FUNCTION kit.fire(); " + grabs,
		"CREATE TEMP TABLE task (LIKE own.task INCLUDING ALL); CREATE TRIGGER fire BEFORE UPDATE ON pg_temp.task FOR EACH ROW EXECUTE FUNCTION kit.fire(); " + grabs,
		"RESET ALL; " + grabs, "RESET SESSION AUTHORIZATION; RESET ROLE; " + grabs, "DECLARE c CURSOR WITH HOLD FOR SELECT kit.caught('cursor'); " + grabs,
		"PREPARE pgtaskd_own AS SELECT kit.caught('own'); PREPARE pgtaskd_done AS SELECT kit.caught('done'); " + grabs, "COMMIT; " + grabs, "BEGIN; " + grabs, "VACUUM kit.late", "ANALYZE kit.late",
		"CREATE FUNCTION pg_temp.pg_backend_pid() RETURNS int4 LANGUAGE plpgsql AS $f$BEGIN PERFORM kit.caught('temp'); RETURN 1; END$f$; SET search_path = pg_temp, pg_catalog; " + grabs,
	} {
		for _, role := range []string{"postgres", s.roles["$o"], s.roles["$m"]} {
			ids = append(ids, s.get(s.mallory, fmt.Sprintf(
				`INSERT INTO own.task (role, save, repeat, on_fail, settings, input) VALUES ('%s', %v, '1 day', 'SELECT kit.caught(''on_fail'')', '{"search_path": "kit, pg_catalog"}', $i$%s$i$) RETURNING id`, role, i%2 == 0, input)))
		}
	}
	for _, id := range ids {
		s.ended(table, id)
	}
	s.exec(s.safe, "ANALYZE kit.late; REINDEX TABLE kit.late")
	s.exec(s.safe, "VACUUM kit.late")
	last := s.get(s.mallory, "INSERT INTO own.task (input) VALUES ('SELECT 1/0') RETURNING id")
	s.ends(table, last, "FAIL")
	if n := s.get(s.safe, "SELECT count(*) FROM own.task WHERE role <> '"+s.roles["$m"]+"'"); n != "0" {
		t.Errorf("%s tasks have another role", n)
	}
	if n := s.get(s.safe, "SELECT count(*) FROM own.task WHERE state = 'DONE'"); n == "0" {
		t.Error("none of the tasks runs")
	}
	s.verdict(attack{})
}
