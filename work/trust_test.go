package work

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/server/servertest"
	"pgtaskd/work/door"
	"pgtaskd/work/target"
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

func TestWhoIsTrustedMayOwnTheTable(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m := strangerOf(s)
	s.exec("ALTER TABLE task OWNER TO " + m + "; GRANT CREATE ON SCHEMA public TO " + m)
	l := newLoop(t.Context(), s.target, target.NewLog(zerolog.New(s), nil))
	if err := prepare(t.Context(), l.control, s.target, false, zerologNone); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.control.Close)
	if err := l.lookAtDoor(t.Context()); !errors.As(err, new(*door.Refused)) {
		t.Errorf("it is not refused: %v", err)
	}
	l.target.Trust = []string{m, "ghost"}
	if err := l.lookAtDoor(t.Context()); err != nil {
		t.Error(err)
	}
	if log := s.logged(); !strings.Contains(log, `role \"ghost\" is trusted and does not exist`) {
		t.Error(log)
	}
}

// TestAnHourlyRefusalDrains: the target ends with what the door has found.
func TestAnHourlyRefusalDrains(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m, l := strangerOf(s), s.installed()
	s.exec("GRANT TRIGGER ON task TO " + m)
	if err := l.guard(t.Context()); err != nil || !l.draining.IsZero() {
		t.Fatalf("it looks before an hour has passed: %v", err)
	}
	l.entrance.looked = l.entrance.looked.Add(-doorTick)
	if err := l.guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := l.drained(); !done || !errors.As(err, new(*door.Refused)) {
		t.Errorf("drained: %v, %v", done, err)
	}
}

// TestATableInUseIsNoRefusal: who has locked it is a failure like others, and no reason to drain.
func TestATableInUseIsNoRefusal(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	l := s.installed()
	other := s.connect()
	must(t, other, "BEGIN; LOCK TABLE task IN SHARE MODE")
	l.entrance.looked = l.entrance.looked.Add(-doorTick)
	if err := l.guard(t.Context()); !fault.Has(err, "55P03") || !l.draining.IsZero() {
		t.Errorf("a lock drains the target: %v", err)
	}
}

// TestWhatIsMadeIsNobodyElses: default privileges give others no code in what pgtaskd makes.
func TestWhatIsMadeIsNobodyElses(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	m := strangerOf(s)
	s.exec("ALTER DEFAULT PRIVILEGES FOR ROLE postgres GRANT ALL ON TABLES TO " + m)
	s.target.Inserter = true // else they may run SQL as the serving role anyway
	s.serve()
	s.settled()
	if got := s.get("SELECT string_agg(c.relname, ' ') FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') "+
		"AND has_table_privilege($1, c.oid, 'TRIGGER, REFERENCES')", m); got != servertest.Null {
		t.Errorf("%s has TRIGGER on %s", m, got)
	}
	if log := s.logged(); !strings.Contains(log, "ALTER DEFAULT PRIVILEGES FOR ROLE postgres REVOKE REFERENCES, TRIGGER ON TABLES FROM "+m) {
		t.Error(log)
	}
}

func TestCheckSaysWhomTheTableHasToTrust(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m := strangerOf(s)
	s.exec("CREATE SCHEMA postgres; GRANT CREATE ON SCHEMA public TO " + m + "; GRANT UPDATE ON SEQUENCE task_id_seq TO " + m)
	r := Check(t.Context(), s.target)
	want := `role "` + m + `" may CREATE in schema public: REVOKE CREATE ON SCHEMA public FROM ` + m + `, or trust the role: "trust": ["` + m + `"]`
	if !slices.Equal(r.Faults, []string{want}) {
		t.Errorf("it says %q", r.Faults)
	}
	want = `role "` + m + `" has UPDATE on sequence public.task_id_seq: REVOKE UPDATE ON SEQUENCE public.task_id_seq FROM ` + m
	if !slices.Contains(r.Doubts, want) {
		t.Errorf("it warns of %q", r.Doubts)
	}
	s.target.Trust = []string{"PUBLIC"}
	if r := Check(t.Context(), s.target); len(r.Faults) > 0 {
		t.Errorf("everybody is trusted: %q", r.Faults)
	}
}
