//go:build slow

package attack

import (
	"fmt"
	"strings"
	"testing"
)

// traps are what the attacker puts in the place of the names that our functions know: a table, or a
// view, of tasks, the tables beside it, the tokens, and all functions that are called by name.
const (
	trapTables = `CREATE TABLE own.task (LIKE $s.$t INCLUDING DEFAULTS); CREATE TRIGGER evil BEFORE INSERT ON own.task FOR EACH STATEMENT EXECUTE FUNCTION kit.fire(); GRANT ALL ON own.task TO PUBLIC;
		ALTER TABLE own.task ENABLE ROW LEVEL SECURITY; CREATE POLICY evil ON own.task USING (kit.holds(input))`
	trapViews  = `CREATE VIEW own.task AS SELECT l.* FROM (SELECT kit.same('')) AS evil, $s.$t AS l; GRANT ALL ON own.task TO PUBLIC`
	trapTokens = `CREATE TABLE own.pgtaskd_token_$h (pid int4, token bytea); GRANT ALL ON own.pgtaskd_token_$h TO PUBLIC`
	trapBeside = `CREATE VIEW own.task_leader AS SELECT kit.yes() AS leads, now() AS since, now() AS seen, 1 AS run, kit.same('UTC') AS timezone; GRANT ALL ON own.task_leader TO PUBLIC`
)

// callers are statements of others in whose session our functions run: all of them do something as
// long as names are what they were.
var callers = []string{
	"INSERT INTO public.app VALUES (1)",
	"INSERT INTO public.app_data VALUES (1)",
	"INSERT INTO $s.$t (input, cron, plan) VALUES ('SELECT 1', '@daily', 'infinity')",
	"INSERT INTO $s.$t (input, after) VALUES ('SELECT 1', '{1}')",
	"SELECT $s.task_why(1)",
	"SELECT * FROM $s.task_schedule",
	"SELECT * FROM $s.task_run",
	"SELECT * FROM $s.task_stat",
	"SELECT * FROM $s.task_error",
}

// A name that our functions know comes to be free when somebody renames or drops what had it: who
// takes it then has nothing of theirs run, as anybody.
func TestNamesThatHaveComeToBeFree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, frees, schema, table, traps, served string }{
		{name: "schema, then a table", frees: "ALTER SCHEMA own RENAME TO moved", schema: "moved", table: "task", traps: trapTables + ";" + trapTokens + ";" + trapBeside},
		{name: "schema, then a view", frees: "ALTER SCHEMA own RENAME TO moved", schema: "moved", table: "task", traps: trapViews + ";" + trapTokens + ";" + trapBeside},
		{name: "schema, served by its new name", frees: "ALTER SCHEMA own RENAME TO moved", schema: "moved", table: "task", traps: trapTables + ";" + trapTokens + ";" + trapBeside, served: "moved"},
		{name: "table, then a table", frees: "ALTER TABLE own.task RENAME TO old", schema: "own", table: "old", traps: trapTables},
		{name: "table, then a view", frees: "ALTER TABLE own.task RENAME TO old", schema: "own", table: "old", traps: trapViews},
		{name: "table beside it", frees: "DROP TABLE own.task_leader", schema: "own", table: "task", traps: trapBeside},
		{name: "tokens", frees: "DROP TABLE own.pgtaskd_token_$h", schema: "own", table: "task", traps: trapTokens},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, table := single(t, "own.task", nil)
			table.keys = object{"as": "inserter", "roles": object{s.roles["$m"]: object{}}}
			s.configure(nil)
			s.lead(table)
			names := strings.NewReplacer("$s", "own", "$t", "task", "$h", "")
			s.exec(s.safe, `CREATE TABLE public.app (id int4); CREATE TRIGGER app AFTER INSERT ON public.app FOR EACH ROW EXECUTE FUNCTION own.task_async('SELECT 1', 'group=a-%s', 'id');
				CREATE TABLE public.app_data (id int4); CREATE TRIGGER app AFTER INSERT ON public.app_data FOR EACH ROW EXECUTE FUNCTION own.task_async('SELECT 1', 'key=a');
				INSERT INTO own.task (input, plan) VALUES ('SELECT 1', 'infinity')`)
			for _, sql := range callers {
				s.exec(s.safe, names.Replace(sql))
			}
			hash := s.get(s.safe, "SELECT right(relname, 16) FROM pg_class WHERE relname LIKE 'pgtaskd\\_token\\_%' AND relkind = 'r'")
			names = strings.NewReplacer("$s", c.schema, "$t", c.table, "$h", hash)

			s.exec(s.safe, names.Replace(c.frees))
			s.exec(s.safe, names.Replace("GRANT CREATE ON DATABASE $d TO $m; GRANT USAGE, CREATE ON SCHEMA $s TO $m; GRANT SELECT ON $s.$t TO $m"))
			if c.schema != "own" {
				s.exec(s.mallory, "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC; CREATE DOMAIN own.pgtaskd_call_"+hash+" AS text;"+s.sameFunctions(hash))
			}
			s.exec(s.mallory, names.Replace(c.traps))
			if c.served != "" {
				table.schema = c.served
				s.configure(nil)
				s.lead(table)
			}
			for _, sql := range callers {
				_ = s.try(s.safe, names.Replace(sql))
				_ = s.try(s.as("$o"), names.Replace(sql))
			}
			_ = s.try(s.mallory, names.Replace(`INSERT INTO own.pgtaskd_token_$h VALUES (pg_backend_pid(), sha256('\x00'))`))
			if err := s.try(s.mallory, fmt.Sprintf(`SELECT %s.pgtaskd_end_%s('\x00', '\x01', 'pg_catalog', ARRAY['SELECT kit.caught(''end'')'], '{}')`, c.schema, hash)); !denied(err) {
				t.Errorf("who has no token of the leader's may end tasks: %v", err)
			}
			s.verdict(attack{})
		})
	}
}

// lead has the target served until it is led, and ends that.
func (s *scene) lead(table *target) {
	s.Helper()
	p := run(s.T, "--config", s.config)
	if _, said := p.says(s.logged(table), 0, servedIn, leading); !said {
		s.Fatal("it is not served")
	}
	p.stop(s.T)
}

// sameFunctions are the attacker's, of the names and parameters of ours that are called by name.
func (s *scene) sameFunctions(hash string) string {
	s.Helper()
	return s.get(s.safe, `SELECT string_agg(format('CREATE FUNCTION own.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$BEGIN PERFORM kit.caught(%L); RETURN NULL; END$f$;',
		p.proname, replace(pg_get_function_identity_arguments(p.oid), 'moved.', 'own.'), pg_get_function_result(p.oid), p.proname), E'\n')
		FROM pg_proc AS p WHERE p.pronamespace = 'moved'::regnamespace AND p.proname LIKE '%\_`+hash+`' AND NOT p.proretset AND p.prorettype NOT IN ('trigger'::regtype, 'void'::regtype)`)
}
