package work

import (
	"strings"
	"testing"
)

// TestTasksRunAsTheirLoginsSettingsSay: as psql's statements do with the same login, and their ends are written.
func TestTasksRunAsTheirLoginsSettingsSay(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"path":        {"search_path = other, pg_catalog"},
		"role":        {"role = 'pg_monitor'"},
		"replication": {"session_replication_role = replica"},
		"serializable": {
			"default_transaction_isolation = serializable", "default_transaction_deferrable = on",
		},
		"limits": {"statement_timeout = '20s'", "lock_timeout = '3s'", "temp_file_limit = '1GB'"},
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.exec("CREATE SCHEMA other; CREATE TABLE effect (id int8); GRANT INSERT ON effect TO pg_monitor")
			shown := []string{"current_user::text", "session_user::text"}
			for _, setting := range settings {
				s.exec("ALTER DATABASE " + s.get("SELECT current_database()") + " SET " + setting)
				shown = append(shown, "current_setting('"+strings.Fields(setting)[0]+"')")
			}
			probe := "SELECT concat_ws(';', " + strings.Join(shown, ", ") + `, '2026-03-04'::date, '1 day'::interval, '\\x41'::bytea, 1/3::float8, null = null)`
			s.serve()
			s.settled()
			want := s.connect()
			if name == "texts" {
				if _, err := want.Exec(t.Context(), "SET client_encoding TO 'UTF8'"); err != nil {
					t.Fatal(err)
				}
				probe = strings.Replace(probe, ", current_setting('client_encoding')", "", 1)
			}
			rows, err := want.PgConn().Exec(t.Context(), probe).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, input := range []string{probe, "INSERT INTO public.effect VALUES (1); " + probe, probe} {
				id := s.add("input, repeat", input, "1 day")
				s.becomes(id, "DONE", "FAIL")
				out := s.get("SELECT coalesce(output, error) FROM task WHERE id = $1", id)
				if want := string(rows[0].Rows[0][0]); s.state(id) != "DONE" || strings.TrimPrefix(out, "INSERT 0 1\n") != want {
					t.Errorf("%s\n%s\nwant %s", s.state(id), out, want)
				}
			}
			if n := s.get("SELECT count(*) FROM public.effect"); n != "1" {
				t.Errorf("%s effects", n)
			}
		})
	}
}
