package work

import (
	"strings"
	"testing"

	"pgtaskd/work/install"
	"pgtaskd/work/target"
)

// TestARefusedTableIsNotServed: nor led, until somebody mends it.
func TestARefusedTableIsNotServed(t *testing.T) {
	t.Parallel()
	s := furnished(t, func(t *Target) { t.Changes = target.NewChanges() })
	m := strangerOf(s)
	s.exec("GRANT TRIGGER ON task TO " + m + "; GRANT SELECT ON task TO PUBLIC")
	s.serve()
	said := `role \"` + m + `\" has TRIGGER on table public.task: REVOKE TRIGGER ON public.task FROM ` + m + `, or trust the role: \"trust\": [\"` + m + `\"]`
	s.until("the finding", func() bool { return strings.Contains(s.logged(), said) })
	s.eventually("0", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	if s.leads() > 0 || strings.Count(s.logged(), `"error"`) != 1 {
		t.Error(s.logged())
	}
	s.exec("REVOKE TRIGGER ON task FROM " + m)
	s.target.Changes.Poke() // as a reload does
	s.settled()
}

// TestARefusalDrains: the target ends with the door's refusal.
func TestARefusalDrains(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.exec("GRANT TRIGGER ON task TO " + strangerOf(s))
	l := s.connected()
	if err := l.guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := l.drained(); !done || !install.IsRefused(err) {
		t.Errorf("drained: %v, %v", done, err)
	}
}

// TestOwnersThatChangeAreNoticed: an object whose code could run with the table gets another owner
// while the table is served.
func TestOwnersThatChangeAreNoticed(t *testing.T) {
	t.Parallel()
	for what, sql := range map[string]string{
		"schema public":     "ALTER SCHEMA public OWNER TO $m",
		"table public.p1":   "ALTER TABLE p1 OWNER TO $m",
		"table public.task": "ALTER TABLE task OWNER TO $m",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, true)
			must(t, s.conn, parts)
			s.serve()
			s.settled()
			s.becomes(s.add("input, delete", "SELECT 1", false), "DONE") // the door has looked
			do(sql)
			s.exec("INSERT INTO task (input) VALUES ('SELECT 1')") // makes the leader look
			s.says(what, "mallory_")
		})
	}
}
