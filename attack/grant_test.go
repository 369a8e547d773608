//go:build slow

package attack

import (
	"strings"
	"testing"
)

// TestGrants: attacks with a part of the rights to a table.
func TestGrants(t *testing.T) {
	t.Parallel()
	const use = "GRANT USAGE ON SCHEMA $n TO $m; "
	attacks{
		{name: "SELECT and an open transaction", right: use, grants: "GRANT SELECT ON $t TO $m", after: "BEGIN; LOCK TABLE $t IN ACCESS SHARE MODE; SELECT * FROM $t"},
		{
			name: "INSERT and an open transaction", right: use, grants: "GRANT INSERT ON $t TO $m; GRANT USAGE ON ALL SEQUENCES IN SCHEMA $n TO $m",
			after: "BEGIN; INSERT INTO $t (input) VALUES ('SELECT 1')",
		},
		{name: "INSERT of a cycle", right: use, grants: "GRANT INSERT ON $t TO $m", after: `INSERT INTO $t (id, next, state, stop, "group", input) VALUES
			(1000001, 1000002, 'DONE', 'infinity', 'daily', ''), (1000002, 1000001, 'DONE', 'infinity', 'daily', ''), (1000003, 1000003, 'GONE', 'infinity', 'daily', '')`},
		{name: "INSERT of odd rows", right: use, grants: "GRANT INSERT ON $t TO $m", after: `INSERT INTO $t (id, parent, plan, "group", data, input, runs) VALUES
			(-9223372036854775808, -1, '2000-01-02 BC', E'a\u202e\x1b[2J\n', repeat(E'\x01', 1000), 'SELECT current_setting(''pg_task.data'')', '{"a": 1}'),
			(9223372036854775807, 9223372036854775807, now(), repeat('g', 10000), '', E'SELECT\x1b', '[[]]')`},
		{name: "CONNECT", after: "LISTEN pgtaskd; SELECT pg_notify(c, repeat('x', 7000)) FROM unnest('{pgtaskd,pgtaskd_0}'::text[]) AS c, generate_series(1, 100); " +
			"SELECT pg_notify('pgtaskd_' || c.oid, repeat(E'\\x01', 7000)) FROM pg_class AS c, generate_series(1, 20) WHERE c.relname IN ('task', 'printed')"},
	}.play(t)
}

// TestInsertOfData: a role that may insert only data can choose by session settings where and when
// the task runs, but no SQL, neither of the task nor of what follows it.
func TestInsertOfData(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", nil)
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	s.exec(s.safe, "GRANT USAGE ON SCHEMA own TO $m")
	s.exec(s.as("$o"), `ALTER TABLE own.task ALTER COLUMN input SET DEFAULT 'SELECT current_user, current_setting(''pg_task.data'')', ALTER COLUMN header SET DEFAULT false;
		GRANT INSERT (data) ON own.task TO $m; GRANT SELECT (id) ON own.task TO $m; GRANT USAGE ON ALL SEQUENCES IN SCHEMA own TO $m`)
	for setting, value := range map[string]string{
		"input": "SELECT kit.caught('input')", "on_fail": "SELECT kit.caught('on_fail')", "settings": `{"search_path": "kit", "session_replication_role": "replica"}`, "role": "postgres",
		"cron": "* * * * *", "after": "{1}", "notify": "x", "key": "k", "until": "1999-01-01", "schema": "public", "table": "x", "parent": "1", "state": "DONE", "owner": "x", "author": "postgres",
	} {
		s.exec(s.mallory, "SELECT set_config('pg_task."+setting+"', '"+strings.ReplaceAll(value, "'", "''")+"', false)")
	}
	id := s.get(s.mallory, "INSERT INTO own.task (data) VALUES ($$'; SELECT kit.caught('data'); --$$) RETURNING id")
	s.ends(table, id, "DONE")
	const nothing = "on_fail IS NULL AND settings IS NULL AND cron IS NULL AND after IS NULL AND notify IS NULL AND key IS NULL AND until IS NULL"
	if s.get(s.safe, "SELECT "+nothing+" FROM own.task WHERE id = "+id) != "t" {
		t.Errorf("the row has taken settings: %s", s.get(s.safe, "SELECT to_jsonb(t) FROM own.task AS t WHERE id = "+id))
	}
	if author := s.get(s.safe, "SELECT author FROM own.task WHERE id = "+id); author != s.roles["$m"] {
		t.Errorf("its author is %q", author)
	}
	s.verdict(attack{})
}
