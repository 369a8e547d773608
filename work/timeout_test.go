package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

func TestLongTimeout(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, timeout", "SELECT 1", "300 years")
	s.becomes(id, "DONE")
}

// TestLimitsOfATaskMeetNothingOfOurs: a function may set anything in its session. Its task ends
// well, once, or fails by its own error. The tasks after it end well.
func TestLimitsOfATaskMeetNothingOfOurs(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 2 })
	s.exec("CREATE TABLE effect (id text); CREATE TABLE neighbour (id text)")
	s.exec(`CREATE FUNCTION sets(VARIADIC settings text[]) RETURNS text LANGUAGE sql AS
		$$SELECT string_agg(set_config(split_part(s, '=', 1), split_part(s, '=', 2), false), ' ') FROM unnest(settings) AS s$$`)
	lasting := []string{
		"statement_timeout=1000", "lock_timeout=1", "idle_in_transaction_session_timeout=1000", "idle_session_timeout=1",
		"default_transaction_isolation=serializable", "default_transaction_read_only=on", "default_transaction_deferrable=on", "exit_on_error=on",
		"default_transaction_isolation=serializable', 'default_transaction_read_only=on', 'default_transaction_deferrable=on",
		"statement_timeout=1000', 'idle_in_transaction_session_timeout=1000', 'idle_session_timeout=1', 'lock_timeout=1",
		"client_min_messages=error', 'DateStyle=SQL, DMY', 'bytea_output=escape', 'standard_conforming_strings=off", "search_path=pg_temp", "array_nulls=off', 'transform_null_equals=on",
	}
	idle := strings.NewReplacer()
	if servertest.Lacks(t, major.ClientCheck) {
		idle = strings.NewReplacer("'idle_session_timeout=1', ", "", "idle_session_timeout=1", "lock_timeout=1")
	}
	for i, setting := range lasting {
		setting = idle.Replace(setting)
		for kind, input := range map[string]string{
			"query": "SELECT sets('%s')", "write": "INSERT INTO effect SELECT current_setting('pg_task.id') FROM sets('%s')",
			"fails": "SELECT 1 / (length(sets('%s')) * 0)", "temporary": "CREATE TEMP TABLE mine (); INSERT INTO effect SELECT current_setting('pg_task.id') FROM sets('%s')",
		} {
			s.exec(`INSERT INTO task ("group", input, "delete") SELECT $1, $2, false FROM generate_series(1, 6)`, fmt.Sprint(i, " ", kind), fmt.Sprintf(input, setting))
			s.exec(`INSERT INTO task ("group", input, "delete") SELECT 'neighbour', 'INSERT INTO neighbour VALUES (current_setting(''pg_task.id''))', false FROM generate_series(1, 6)`)
		}
	}
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'WORK')")
	if failed := s.get(`SELECT coalesce(string_agg(concat_ws(': ', "group", error), E'\n'), '') FROM task WHERE concat_ws(' ', state, sqlstate) <> CASE WHEN "group" LIKE '%fails' THEN 'FAIL 22012' ELSE 'DONE' END`); failed != "" {
		t.Error(failed)
	}
	if n := s.get("SELECT count(*) FROM task WHERE interrupted > 0"); n != "0" {
		t.Errorf("%s are interrupted", n)
	}
	for table, group := range map[string]string{"effect": `"group" LIKE '%write' OR "group" LIKE '%temporary'`, "neighbour": `"group" = 'neighbour'`} {
		if s.get("SELECT array_agg(id ORDER BY id) FROM "+table) != s.get("SELECT array_agg(id::text ORDER BY id::text) FROM task WHERE "+group) {
			t.Errorf("%s: the effects are not those of the tasks, once each", table)
		}
	}
}
