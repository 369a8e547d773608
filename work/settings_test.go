package work

import (
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
)

// TestSettings: they apply in the session while the task runs, and to no other task.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 1 })
	s.exec("CREATE SCHEMA sales; CREATE TABLE sales.orders (id int); INSERT INTO sales.orders VALUES (7)")
	const shown = "SELECT current_setting('work_mem') || ' ' || current_setting('enable_sort') || ' ' || coalesce(current_setting('my.own', true), '-')"
	for _, c := range []struct{ input, settings, want string }{
		{shown, `{"work_mem": "7MB", "enable_sort": false, "my.own": 5.5}`, "7MB off 5.5"},
		{"SELECT id FROM orders", `{"search_path": "sales, public"}`, "7"},
		{"INSERT INTO orders VALUES (8) RETURNING id", `{"search_path": "sales"}`, "8\nINSERT 0 1"[:1]},
		{"SELECT current_setting('transaction_isolation')", `{"default_transaction_isolation": "serializable"}`, "serializable"},
		{"SELECT current_user", `{}`, "postgres"},
	} {
		for _, save := range []bool{false, true} {
			own, other := s.add("input, settings, save, delete", c.input, c.settings, save, false), s.add("input, save, delete", shown, save, false)
			s.becomes(own, "DONE")
			s.becomes(other, "DONE")
			if got := s.get("SELECT output FROM task WHERE id = $1", own); got != c.want {
				t.Errorf("%s, %s: %s", c.settings, c.input, got)
			}
			if got := s.get("SELECT output FROM task WHERE id = $1", other); got != "4MB on -" && got != "4MB on " {
				t.Errorf("behind %s: %s", c.settings, got)
			}
		}
	}
}

// TestSettingsThatCannotBe: the task FAILs once, and says why. The lane goes on.
func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := play(t)
	for settings, state := range map[string]string{
		`{"work_mem": "much"}`: "22023", `{"no_such_setting": 1}`: "42704", `{"max_connections": 5}`: "55P02", `{"": "x"}`: "42704", `{"role": "nobody here"}`: "22023",
	} {
		id := s.add("input, settings", "SELECT 1", settings)
		s.becomes(id, "FAIL", "DONE")
		if got := s.get("SELECT format('%s %s %s', state, sqlstate, attempt) FROM task WHERE id = $1", id); got != "FAIL "+state+" 1" {
			t.Error(settings, got, s.get("SELECT error FROM task WHERE id = $1", id))
		}
	}
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	for _, settings := range []string{`[]`, `"x"`, `{"a": null}`, `{"a": {}}`, `{"a": [1]}`} {
		if _, err := s.conn.Exec(t.Context(), "INSERT INTO task (input, settings) VALUES ('', $1)", settings); !fault.Has(err, "23514") {
			t.Error(settings, err)
		}
	}
}

// TestSettingsThatNoTriggerHasRefusedAreBounded: they stay on the server, and the task FAILs.
func TestSettingsThatNoTriggerHasRefusedAreBounded(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.installed()
	s.exec("ALTER TABLE task DISABLE TRIGGER pgtaskd_accept")
	s.exec("INSERT INTO task (id, input, settings) VALUES (1, 'SELECT 1', jsonb_build_object('application_name', repeat('a', 100000)))")
	s.exec("INSERT INTO task (id, input, settings, delete) VALUES (2, 'SELECT length(current_setting($$pgtaskd.x$$))', jsonb_build_object('pgtaskd.x', repeat('a', 60000)), false)")
	s.serve()
	s.settled()
	for id, want := range map[string]string{"1": "FAIL ERROR:  unrecognized configuration parameter \"settings of over 64 kB\"", "2": "DONE 60000"} {
		s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = "+id)
		if got := s.get("SELECT concat(state, ' ', output, error) FROM task WHERE id = " + id); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestWhatARoleSetsIsNotReadForEachTask: any role may give itself settings of megabytes.
func TestWhatARoleSetsIsNotReadForEachTask(t *testing.T) {
	t.Parallel()
	s, do := withRoles(t, false)
	do("GRANT CREATE ON SCHEMA public TO $w")
	s.installed()
	do("SET ROLE $w; INSERT INTO task (id, input) SELECT n * 1000, 'SELECT 1' FROM generate_series(1, 20) AS n")
	conn := s.connect()
	must(t, conn, `SET ROLE "`+s.target.Connect["user"]+`"`)
	d, err := schema.Describe(t.Context(), conn, s.target.Relation())
	if err != nil {
		t.Fatal(err)
	}
	p := plans["prefetch"]
	must(t, conn, "PREPARE plan_prefetch AS "+query.Of(d, s.target.Relation()).Text("prefetch"))
	explain(t, conn, "prefetch", p)
	before, _ := explain(t, conn, "prefetch", p)
	do("DO $$BEGIN EXECUTE 'ALTER ROLE $w SET pgtaskd.x = ''' || (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 30000) AS n) || ''''; END$$")
	if after, _ := explain(t, conn, "prefetch", p); after.reads > before.reads+100 {
		t.Errorf("%v pages, and %v before", after.reads, before.reads)
	}
}

// TestSettingsThatHaveTheServerSayMuch: a session still becomes ready, and the target goes on.
func TestSettingsThatHaveTheServerSayMuch(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input, settings)
		SELECT 'g' || g, 'SELECT current_setting(''z.bxxxxxxxxxxxxxxxxxx7'')',
			'{"client_min_messages": "log", "debug_print_plan": "on", "debug_print_parse": "on", "debug_print_rewritten": "on"}'::jsonb ||
			(SELECT jsonb_object_agg('z.bxxxxxxxxxxxxxxxxxx' || i, 1) FROM generate_series(1, 2050) AS i)
		FROM generate_series(1, 9) AS g`)
	s.eventually("9", "SELECT count(*) FROM task WHERE state = 'DONE' AND output = '1' AND attempt = 1 AND interrupted = 0")
	s.others()
}
