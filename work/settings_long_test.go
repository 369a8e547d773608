package work

import (
	"strings"
	"testing"

	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
)

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

// TestWhatARoleSetsIsNotReadForEachTask: everybody may give their own role settings of megabytes.
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
