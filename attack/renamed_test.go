//go:build slow

package attack

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// traps are what the attacker puts in the place of the names that our functions know: a table, or a
// view, of tasks, the tables beside it, the tokens, and all functions that are called by name.
const (
	trapTables = `CREATE TABLE $n.task (LIKE $s.$t INCLUDING DEFAULTS); CREATE TRIGGER evil BEFORE INSERT ON $n.task FOR EACH STATEMENT EXECUTE FUNCTION kit.fire(); GRANT ALL ON $n.task TO PUBLIC;
		ALTER TABLE $n.task ENABLE ROW LEVEL SECURITY; CREATE POLICY evil ON $n.task USING (kit.holds(input));`
	trapViews  = `CREATE VIEW $n.task AS SELECT l.* FROM $s.$t AS l WHERE kit.yes() AND kit.holds(l.input); GRANT ALL ON $n.task TO PUBLIC;`
	trapTokens = `CREATE TABLE $n.pgtaskd_token_$h (pid int4, token bytea); GRANT ALL ON $n.pgtaskd_token_$h TO PUBLIC;`
	trapBeside = `CREATE VIEW $n.task_leader AS SELECT kit.yes() AS leads, now() AS since, now() AS seen, 1 AS run, kit.same('UTC') AS timezone; GRANT ALL ON $n.task_leader TO PUBLIC;`
	trapCalls  = `CREATE DOMAIN $n.pgtaskd_call_$h AS text CHECK (kit.holds(VALUE)); $f`
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

// byName are those of them that look for the table by its name.
var byName = slices.Concat(callers[:2], callers[4:])

// A name that our functions know comes to be free when somebody renames or drops what had it: who
// takes it then has nothing of theirs run, as anybody.
func TestNamesThatHaveComeToBeFree(t *testing.T) {
	t.Parallel()
	const (
		renamed = "ALTER SCHEMA $n RENAME TO moved"
		moved   = "CREATE SCHEMA types; GRANT USAGE ON SCHEMA types TO PUBLIC; ALTER DOMAIN $n.pgtaskd_call_$h SET SCHEMA types"
	)
	for _, c := range []struct {
		name, home, frees, schema, table, traps, served string
		refused                                         []string // of callers; the others go on
	}{
		{name: "schema, then a table", home: "own", frees: renamed, schema: "moved", table: "task", traps: trapTables + trapTokens + trapBeside + trapCalls, refused: callers},
		{name: "schema, then a view", home: "own", frees: renamed, schema: "moved", table: "task", traps: trapViews + trapTokens + trapBeside + trapCalls, refused: callers},
		{name: "schema, served by its new name", home: "own", frees: renamed, schema: "moved", table: "task", traps: trapTables + trapTokens + trapBeside + trapCalls, served: "moved"},
		{name: "table, then a table", home: "own", frees: "ALTER TABLE $n.task RENAME TO old", schema: "own", table: "old", traps: trapTables, refused: byName},
		{name: "table, then a view", home: "own", frees: "ALTER TABLE $n.task RENAME TO old", schema: "own", table: "old", traps: trapViews, refused: byName},
		{name: "superuser's table, then a table", home: "public", frees: "ALTER TABLE $n.task RENAME TO old", schema: "public", table: "old", traps: trapTables, refused: byName},
		{name: "superuser's table, then a view", home: "public", frees: "ALTER TABLE $n.task RENAME TO old", schema: "public", table: "old", traps: trapViews, refused: byName},
		{name: "made by a superuser, then a view", home: "low", frees: "ALTER TABLE $n.task RENAME TO old", schema: "low", table: "old", traps: trapViews, refused: byName},
		{name: "table beside it", home: "own", frees: "DROP TABLE $n.task_leader", schema: "own", table: "task", traps: trapBeside},
		{name: "superuser's table beside it", home: "public", frees: "DROP TABLE $n.task_leader", schema: "public", table: "task", traps: trapBeside},
		{name: "tokens", home: "own", frees: "DROP TABLE $n.pgtaskd_token_$h", schema: "own", table: "task", traps: trapTokens},
		{name: "type", home: "own", frees: moved, schema: "own", table: "task", traps: trapCalls, refused: callers},
		{name: "superuser's type", home: "public", frees: moved, schema: "public", table: "task", traps: trapCalls, refused: callers},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, table := single(t, c.home+".task", nil)
			inserter := c.home == "own"
			if inserter {
				table.keys = object{"as": "inserter", "roles": object{s.roles["$m"]: object{}}}
			}
			s.configure(nil)
			s.lead(table)
			names := strings.NewReplacer("$s", c.home, "$t", "task", "$n", c.home)
			s.exec(s.safe, names.Replace(`CREATE TABLE public.app (id int4); CREATE TRIGGER app AFTER INSERT ON public.app FOR EACH ROW EXECUTE FUNCTION $n.task_async('SELECT 1', 'group=a-%s', 'id');
				CREATE TABLE public.app_data (id int4); CREATE TRIGGER app AFTER INSERT ON public.app_data FOR EACH ROW EXECUTE FUNCTION $n.task_async('SELECT 1', 'key=a');
				INSERT INTO $n.task (input, plan) VALUES ('SELECT 1', 'infinity')`))
			for _, sql := range callers {
				s.exec(s.safe, names.Replace(sql))
			}
			hash := s.get(s.safe, "SELECT right(relname, 16) FROM pg_class WHERE relname LIKE 'pgtaskd\\_session\\_%' AND relkind = 'r'")
			functions := s.sameFunctions(c.home, hash)
			names = strings.NewReplacer("$s", c.schema, "$t", c.table, "$n", c.home, "$h", hash, "$f", functions)

			s.exec(s.safe, names.Replace(c.frees))
			s.exec(s.safe, names.Replace("GRANT CREATE ON DATABASE $d TO $m; GRANT USAGE, CREATE ON SCHEMA $s TO $m; GRANT SELECT ON $s.$t TO $m"))
			if c.schema != c.home {
				s.exec(s.mallory, names.Replace("CREATE SCHEMA $n; GRANT USAGE ON SCHEMA $n TO PUBLIC"))
			}
			s.exec(s.mallory, names.Replace(c.traps))
			if c.served != "" {
				table.schema = c.served
				s.configure(nil)
				s.lead(table)
			}
			for _, sql := range callers {
				if err := s.try(s.safe, names.Replace(sql)); refused(err) != slices.Contains(c.refused, sql) {
					t.Errorf("%s: %v", names.Replace(sql), err)
				}
				_ = s.try(s.as("$o"), names.Replace(sql))
			}
			_ = s.try(s.mallory, names.Replace(`INSERT INTO $n.pgtaskd_token_$h VALUES (pg_backend_pid(), sha256('\x00'))`))
			if err := s.try(s.mallory, names.Replace(`SELECT $s.pgtaskd_end_$h('\x00', '\x01', 'pg_catalog', ARRAY['SELECT kit.caught(''end'')'], '{}')`)); inserter && c.frees != moved && !denied(err) {
				t.Errorf("who has no token of the leader's may end tasks: %v", err)
			}
			s.verdict(attack{})
		})
	}
}

// refused tells whether a function of ours says that its table is not the one that it knows, or may
// not even lock a view.
func refused(err error) bool {
	var answer *pgconn.PgError
	return denied(err) || errors.As(err, &answer) && slices.Contains([]string{"55000", "22023"}, answer.Code) &&
		regexp.MustCompile("is not the one that|are not made anew yet|belongs to role").MatchString(answer.Message)
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
func (s *scene) sameFunctions(schema, hash string) string {
	s.Helper()
	return s.get(s.safe, `SELECT string_agg(format('CREATE FUNCTION `+schema+`.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$BEGIN PERFORM kit.caught(%L); RETURN NULL; END$f$;',
		p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid), p.proname), E'\n')
		FROM pg_proc AS p WHERE p.pronamespace = '`+schema+`'::regnamespace AND p.proname LIKE '%\_`+hash+`' AND NOT p.proretset AND p.prorettype NOT IN ('trigger'::regtype, 'void'::regtype)`)
}
