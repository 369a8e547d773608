//go:build slow

package work

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// loginSettings are settings for the logins of a database or of a role, in groups.
var loginSettings = map[string][]string{
	"path":        {"search_path = other, pg_catalog"},
	"role":        {"role = 'pg_monitor'"},
	"replication": {"session_replication_role = replica"},
	"serializable": {
		"default_transaction_isolation = serializable", "default_transaction_deferrable = on",
	},
	"limits": {
		"statement_timeout = '20s'", "lock_timeout = '3s'", "temp_file_limit = '1GB'", "transaction_timeout = '20s'",
	},
	"texts": {
		"DateStyle = 'German, DMY'", "IntervalStyle = 'iso_8601'", "bytea_output = 'escape'", "standard_conforming_strings = off", "backslash_quote = off",
		"escape_string_warning = off", "quote_all_identifiers = on", "xmlbinary = hex", "extra_float_digits = -5", "TimeZone = 'Asia/Kolkata'", "array_nulls = off",
		"lc_monetary = 'C'", "client_min_messages = error", "client_encoding = 'LATIN1'",
	},
	"plans": {
		"row_security = off", "check_function_bodies = off", "default_table_access_method = heap", "synchronous_commit = off", "enable_seqscan = off",
		"enable_indexscan = off", "plan_cache_mode = force_custom_plan", "jit = on", "jit_above_cost = 0", "log_statement = 'all'", "default_tablespace = ''",
		"transform_null_equals = on", "from_collapse_limit = 1", "join_collapse_limit = 1", "geqo_threshold = 2", "default_statistics_target = 10",
	},
	"libraries": {
		"session_preload_libraries = auto_explain, plpgsql, pg_trgm", "auto_explain.log_min_duration = 0", "auto_explain.log_level = 'notice'", "auto_explain.log_nested_statements = on",
		"plpgsql.check_asserts = off", "plpgsql.extra_warnings = 'all'",
	},
	"spaces": {"temp_tablespaces = $s, pg_default", "default_tablespace = 'pg_default'", "temp_buffers = 100", "work_mem = '64kB'", "maintenance_work_mem = '1MB'"},
}

// TestTasksRunUnderTheSettingsOfTheirLogin: like statements of psql with the same login. Their ends
// are written.
func TestTasksRunUnderTheSettingsOfTheirLogin(t *testing.T) {
	t.Parallel()
	for way, alter := range []string{"ALTER DATABASE $d SET ", "ALTER ROLE $r SET ", "ALTER ROLE $r IN DATABASE $d SET "} {
		for i, name := range slices.Sorted(maps.Keys(loginSettings)) {
			if !servertest.Thorough && (way+i)%3 != 0 {
				continue
			}
			settings := loginSettings[name]
			t.Run(alter+name, func(t *testing.T) {
				t.Parallel()
				s := prepared(t)
				role := s.role()
				s.exec("ALTER ROLE " + role + " SUPERUSER; CREATE SCHEMA other; CREATE TABLE effect (id int8, t text); GRANT INSERT ON effect TO pg_monitor")
				if name == "role" { // which makes the table then
					s.exec("GRANT CREATE ON SCHEMA public TO pg_monitor")
				}
				alter := strings.NewReplacer("$d", s.get("SELECT current_database()"), "$r", role).Replace(alter)
				space := s.space(role)
				shown := []string{"current_user::text", "session_user::text"}
				for _, setting := range slices.DeleteFunc(slices.Clone(settings), s.lacks) {
					s.exec(alter + strings.ReplaceAll(setting, "$s", space))
					shown = append(shown, "current_setting('"+strings.Fields(setting)[0]+"')")
				}
				s.target.Connect = maps.Clone(s.target.Connect)
				s.target.Connect["user"] = role
				s.serve()
				s.settled()
				s.runsAs(s.connectAs(role), shown)
			})
		}
	}
}

// lacks tells whether the server does not have the setting. pg_settings does not show role.
func (s *stage) lacks(setting string) bool {
	name := strings.Fields(setting)[0]
	return name != "role" && !strings.Contains(name, ".") && s.get("SELECT count(*) FROM pg_settings WHERE lower(name) = lower($1)", name) == "0"
}

// space makes a tablespace for the test if the server allows one without a folder (from 15 on).
func (s *stage) space(owner string) (name string) {
	s.t.Helper()
	if s.lacks("allow_in_place_tablespaces") {
		return "pg_default"
	}
	name = owner + "_space"
	s.exec("SET allow_in_place_tablespaces TO on")
	s.exec("CREATE TABLESPACE " + name + " OWNER " + owner + " LOCATION ''")
	s.t.Cleanup(func() {
		if _, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP TABLESPACE "+name); err != nil {
			s.t.Error(err)
		}
	})
	return name
}

// runsAs compares the results of tasks of several kinds with those of an ordinary login.
func (s *stage) runsAs(login *pgx.Conn, shown []string) {
	s.t.Helper()
	if i := slices.Index(shown, "current_setting('client_encoding')"); i >= 0 {
		s.on(login, "SET client_encoding TO 'UTF8'")
		shown = slices.Delete(shown, i, i+1)
	}
	probe := "SELECT concat_ws(';', " + strings.Join(shown, ", ") + `, '2026-03-04'::date, '1 day'::interval, '\\x41'::bytea, 1/3::float8, null = null)`
	rows, err := login.PgConn().Exec(s.t.Context(), probe).ReadAll()
	if err != nil {
		s.t.Fatal(err)
	}
	want := string(rows[0].Rows[0][0])
	inputs := []string{
		probe, "INSERT INTO public.effect VALUES (1); " + probe, probe, "CREATE TEMP TABLE pg_temp.mine AS SELECT generate_series(1, 50000) AS a; SELECT count(*) FROM (SELECT a FROM pg_temp.mine ORDER BY a DESC) AS m; " + probe,
		"DO $$BEGIN INSERT INTO public.effect VALUES (2); END$$; " + probe, "COMMIT; " + probe,
	}
	for _, input := range inputs {
		id := s.add("input, repeat", input, "1 day")
		s.becomes(id, "DONE", "FAIL")
		out := s.get("SELECT coalesce(output, error) FROM task WHERE id = $1", id)
		if lines := strings.Split(out, "\n"); s.state(id) != "DONE" || lines[len(lines)-1] != want {
			s.t.Errorf("%s: %s\n%s\nwant %s", input, s.state(id), out, want)
		}
	}
	for i := range 3 { // tasks in a row share sessions, and plans
		s.exec(`INSERT INTO task ("group", input, "delete") SELECT $1, $2, false FROM generate_series(1, 20)`, fmt.Sprint("many ", i),
			[]string{probe, "INSERT INTO public.effect VALUES (3)", "SELECT 1"}[i])
	}
	s.eventually("0", `SELECT count(*) FROM task WHERE state IN ('PLAN', 'WORK') AND "group" LIKE 'many%'`)
	if n := s.get(`SELECT count(*) FROM task WHERE "group" LIKE 'many%' AND (state <> 'DONE' OR output NOT IN ($1, 'INSERT 0 1', '1'))`, want); n != "0" {
		s.t.Errorf("%s of many are odd: %s", n, s.get(`SELECT string_agg(DISTINCT coalesce(error, output), ' ') FROM task WHERE "group" LIKE 'many%'`))
	}
	if n := s.get("SELECT count(*) FROM public.effect"); n != "22" {
		s.t.Errorf("%s effects", n)
	}
}
