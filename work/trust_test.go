package work

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// strangerOf is a role that nobody trusts. Its name is that of the test's database with an m.
func strangerOf(s *stage) string {
	s.t.Helper()
	name := "m_" + s.conn.Config().Database
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		_, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			s.t.Error(err)
		}
	})
	return name
}

// TestARefusedTableIsNotServed: nor led, until somebody has mended it.
func TestARefusedTableIsNotServed(t *testing.T) {
	t.Parallel()
	s := furnished(t, func(t *Target) { t.Changes = NewChanges() })
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

// TestARefusalDrains: the target ends with what the door has found.
func TestARefusalDrains(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.exec("GRANT TRIGGER ON task TO " + strangerOf(s))
	l := s.connected()
	if err := l.table.Guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := l.drained(); !done || !IsRefused(err) {
		t.Errorf("drained: %v, %v", done, err)
	}
}
