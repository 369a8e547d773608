package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// Tests of what a task's SQL leaves in its session: it affects neither the task's own end nor the
// next task of the lane.

// left is SQL that leaves something in its session, to be tried in the four ways of hostileWays.
var left = []string{
	"DO $$DECLARE n text; BEGIN FOR n IN SELECT name FROM pg_prepared_statements LOOP " +
		"EXECUTE format('DEALLOCATE %I', n); EXECUTE format('PREPARE %I AS SELECT ''hostile''', n); END LOOP; END$$",
	"RESET ALL",
	"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
	"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE",
	"SET default_transaction_read_only TO on",
	"SET default_transaction_isolation TO 'repeatable read'",
	"DEALLOCATE ALL",
	"DISCARD PLANS; DISCARD SEQUENCES; DISCARD TEMP",
	`PREPARE "it's ""odd""" AS SELECT 1; PREPARE "` + strings.Repeat("ü", 31) + `" AS SELECT 2`,
	"DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$",
	"SET ROLE pg_monitor",
	"SET SESSION AUTHORIZATION pg_monitor",
	"SET lock_timeout TO 1",
	"SET search_path TO hostile, pg_catalog, public",
	"SET search_path TO pg_temp, hostile, pg_catalog, public",
	"SET search_path TO ''",
	"SET LOCAL search_path TO hostile, pg_catalog",
	"CREATE TEMP TABLE task (id int8); CREATE TEMP TABLE pg_class (id int8); CREATE TEMP TABLE pg_stat_activity (id int8)",
	"CREATE DOMAIN pg_temp.int2 AS text; CREATE DOMAIN pg_temp.int4 AS text CHECK (false); CREATE DOMAIN pg_temp.int8 AS text CHECK (false); " +
		"CREATE DOMAIN pg_temp.timestamptz AS text CHECK (false); CREATE DOMAIN pg_temp.bool AS text CHECK (false); CREATE DOMAIN pg_temp.xid AS text CHECK (false)",
	"CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT 1/0; SELECT NULL::timestamptz'",
	"SET standard_conforming_strings TO off; SET backslash_quote TO off; SET escape_string_warning TO off; SELECT '\\\\''', 1",
	"SET bytea_output TO 'escape'; SET extra_float_digits TO -15",
	"SET DateStyle TO 'German, DMY'",
	"SET DateStyle TO 'SQL, MDY'; SET TimeZone TO 'America/St_Johns'",
	"SET TimeZone TO '-167:59'; SET timezone_abbreviations TO 'India'",
	"SET IntervalStyle TO 'sql_standard'",
	"SET client_encoding TO 'LATIN1'",
	"SET client_encoding TO 'SQL_ASCII'",
	"SET client_encoding TO 'SJIS'; SELECT U&'\\8868'",
	"SET session_replication_role TO replica",
	"SET client_min_messages TO debug5",
	"SET client_min_messages TO debug5; SET debug_print_plan TO on; SET log_min_messages TO panic",
	"SET client_min_messages TO error; SET log_statement TO 'all'",
	"SET row_security TO off",
	"SET array_nulls TO off; SET transform_null_equals TO on; SET xmloption TO document",
	"SET default_tablespace TO ''; SET temp_tablespaces TO ''; SET default_table_access_method TO heap",
	"SET synchronous_commit TO off; SET commit_delay TO 1",
	"SET work_mem TO '64kB'; SET max_stack_depth TO '100kB'; SET temp_file_limit TO 0",
	"SET enable_seqscan TO off; SET enable_indexscan TO off; SET enable_bitmapscan TO off; SET enable_sort TO off; SET enable_hashjoin TO off",
	"SET jit TO on; SET jit_above_cost TO 0; SET plan_cache_mode TO force_generic_plan; " +
		"SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')",
	"SET track_activities TO off; SET application_name TO 'somebody else'",
	"SET pg_task.id TO '0'; SET pg_task.data TO 'wrong'; SET pg_task.\"group\" TO 'wrong'; SET pg_task.\"table\" TO 'wrong'; SET pg_task.attempt TO '9'",
	"SET my.own TO 'left'",
	"LISTEN somebody; NOTIFY somebody, 'nobody'",
	"UNLISTEN *",
	"SELECT pg_advisory_lock(7), pg_advisory_lock_shared(8), pg_advisory_xact_lock(9)",
	"DECLARE c CURSOR FOR SELECT 1",
	"DECLARE c CURSOR WITH HOLD FOR SELECT generate_series(1, 3)",
	"SAVEPOINT s; SAVEPOINT s",
	"SAVEPOINT s; SELECT set_config('my.own', 'left', false); ROLLBACK TO s",
	"CREATE TEMP TABLE made (a int4) ON COMMIT DROP",
	"CREATE TEMP TABLE kept (a int4) ON COMMIT DELETE ROWS; INSERT INTO kept VALUES (1)",
	"SELECT FROM task WHERE id = current_setting('pg_task.id')::int8 FOR UPDATE",
	"LOAD 'plpgsql'",
	"SET CONSTRAINTS ALL DEFERRED",
	"SELECT setseed(0.5), random()",
	"DO $$BEGIN FOR i IN 1..3000 LOOP RAISE WARNING 'notice % %', i, repeat('x', 100); END LOOP; END$$",
}

// hostileWays are the ways in which the tasks end: after writing, after reading, with a repetition,
// and after their own COMMIT.
var hostileWays = []struct {
	name, repeat string
	input        func(sql string) string
	effects      int
}{
	{"writes", "0", func(sql string) string { return effect + sql }, 1},
	{"reads", "0", func(sql string) string { return sql }, 0},
	{"repeats", "1 year", func(sql string) string { return sql }, 0},
	{"commits", "0", func(sql string) string { return "BEGIN; " + effect + "COMMIT; BEGIN; " + effect + sql }, 2},
}

const effect = "INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8); "

// seen is SQL that shows what a task sees of its session.
const seen = `SELECT json_build_object('set', (SELECT json_object_agg(name, setting) FROM pg_settings
		WHERE setting <> reset_val AND context IN ('user', 'superuser') AND name <> 'application_name'),
	'users', array[current_user, session_user], 'name', current_setting('application_name'), 'own', nullif(current_setting('my.own', true), ''),
	'id', current_setting('pg_task.id'), 'group', current_setting('pg_task.group'), 'table', current_setting('pg_task.schema') || '.' || current_setting('pg_task.table'),
	'data', current_setting('pg_task.data'), 'attempt', current_setting('pg_task.attempt'), 'isolation', current_setting('transaction_isolation'),
	'statements', (SELECT count(*) FROM pg_prepared_statements WHERE from_sql), 'cursors', (SELECT count(*) FROM pg_cursors WHERE name <> ''),
	'channels', (SELECT count(*) FROM pg_listening_channels()), 'locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
	'temporary', (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()) + (SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()))`

// hostile is a stage for tasks that try to disturb pgtaskd.
func hostile(t *testing.T) *stage {
	t.Helper()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8); GRANT ALL ON effect TO PUBLIC; CREATE SCHEMA hostile; GRANT USAGE ON SCHEMA hostile TO PUBLIC")
	s.exec("CREATE FUNCTION hostile.now() RETURNS timestamptz LANGUAGE plpgsql AS $$BEGIN RAISE 'hostile'; END$$")
	for _, name := range []string{"transaction_timestamp", "clock_timestamp", "statement_timestamp", "pg_backend_pid", "txid_current", "txid_current_if_assigned"} {
		s.exec("CREATE FUNCTION hostile." + name + "() RETURNS int8 LANGUAGE plpgsql AS $$BEGIN RAISE 'hostile'; END$$")
	}
	for _, kind := range []string{"int8", "int4", "text", "timestamptz", "interval", "anyenum"} {
		s.exec(fmt.Sprintf("CREATE FUNCTION hostile.same(%[1]s, %[1]s) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'hostile'; END$$; "+
			"CREATE OPERATOR hostile.= (LEFTARG = %[1]s, RIGHTARG = %[1]s, FUNCTION = hostile.same); "+
			"CREATE OPERATOR hostile.<> (LEFTARG = %[1]s, RIGHTARG = %[1]s, FUNCTION = hostile.same)", kind))
	}
	s.exec("CREATE TABLE hostile.task (id int8); CREATE TYPE hostile.text AS ENUM ('x'); CREATE TYPE hostile.int8 AS ENUM ('x'); CREATE TYPE hostile.timestamptz AS ENUM ('x')")
	return s
}

// TestASessionIsResetBetweenTasks: a task ends DONE with its effects, whatever it leaves in its
// session. The next task on the session finds nothing of it.
func TestASessionIsResetBetweenTasks(t *testing.T) {
	t.Parallel()
	s := hostile(t)
	tx, err := s.conn.Begin(t.Context()) // no lane begins before it is complete
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range hostileWays {
		s.add(`input, "group", live, data`, seen, way.name, "1 hour", "first")
		for i, sql := range left {
			s.add(`input, "group", live, repeat, data`, way.input(sql), way.name, "1 hour", way.repeat, "hostile")
			s.add(`input, "group", live, data`, seen, way.name, "1 hour", fmt.Sprint("after ", i))
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	servertest.Wait(t, 2*patient, "all have ended", func() bool {
		return s.get("SELECT count(*) FROM task WHERE plan <= now() AND state IN ('PLAN', 'TAKE', 'WORK')") == "0"
	})
	for _, way := range hostileWays {
		s.allEnded(way.name, way.effects)
		s.allSeen(way.name)
	}
	if s.leads() != 1 {
		t.Errorf("led %d times", s.leads())
	}
}

// allEnded checks that the hostile tasks of a lane are DONE after one run, each with its effects
// and its repetition.
func (s *stage) allEnded(group string, effects int) {
	s.t.Helper()
	if wrong := s.get(`SELECT json_agg(w) FROM (
		SELECT t.input, t.state, t.error, t.attempt, t.interrupted, (SELECT count(*) FROM effect AS e WHERE e.id = t.id) AS effects
		FROM task AS t WHERE t."group" = $1 AND t.data = 'hostile' AND t.parent IS NULL
			AND (t.state, t.attempt, t.interrupted, (SELECT count(*) FROM effect AS e WHERE e.id = t.id), (SELECT count(*) FROM task AS n WHERE n.parent = t.id))
				<> ('DONE', 1, 0, $2, (t.repeat > '0')::int4)) AS w`, group, effects); wrong != "NULL" {
		s.t.Errorf("%s: %s", group, wrong)
	}
}

// allSeen checks that all tasks of a lane have seen the same, apart from their own values.
func (s *stage) allSeen(group string) {
	s.t.Helper()
	if wrong := s.get(`SELECT json_agg(w) FROM (
		SELECT b.input AS left, t.state, t.error, t.output, f.output AS first
		FROM task AS t
		JOIN LATERAL (SELECT * FROM task AS b WHERE b."group" = t."group" AND b.id < t.id ORDER BY b.id DESC LIMIT 1) AS b ON true
		JOIN task AS f ON f."group" = t."group" AND f.data = 'first'
		WHERE t."group" = $1 AND t.data LIKE 'after %' AND (t.state <> 'DONE' OR t.pid <> f.pid
			OR t.output::jsonb - '{id,data}'::text[] <> f.output::jsonb - '{id,data}'::text[]
			OR t.output::jsonb ->> 'id' <> t.id::text OR t.output::jsonb ->> 'data' <> t.data)) AS w`, group); wrong != "NULL" {
		s.t.Errorf("%s: %s", group, wrong)
	}
	want := fmt.Sprintf(`{"set":null,"users":["postgres","postgres"],"name":"pg_task public task %[1]s","own":null,"group":"%[1]s","table":"public.task","attempt":"1"}`, group)
	if got := s.get(`SELECT row_to_json(r) FROM (SELECT r.* FROM task, json_to_record(output::json) AS r (set json, users json, name text, own text, "group" text, "table" text, attempt text)
		WHERE task."group" = $1 AND task.data = 'first') AS r`, group); got != want {
		s.t.Errorf("the first task has seen %s, want %s", got, want)
	}
}
