package install

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

func TestWhoIsTrustedMayOwnTheTable(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m := s.stranger()
	s.exec("ALTER TABLE task OWNER TO " + m + "; GRANT CREATE ON SCHEMA public TO " + m)
	if err := s.lookAtDoor(t.Context()); !IsRefused(err) {
		t.Errorf("it is not refused: %v", err)
	}
	s.Target.Trust = []string{m, "ghost"}
	if err := s.lookAtDoor(t.Context()); err != nil {
		t.Error(err)
	}
	if log := s.log.String(); !strings.Contains(log, `role \"ghost\" is trusted and does not exist`) {
		t.Error(log)
	}
}

// TestTheDoorIsLookedAtEachHour: the look also says why the table may not be served any longer. A
// lock on the table is an ordinary error.
func TestTheDoorIsLookedAtEachHour(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m := s.stranger()
	s.look()
	s.exec("GRANT TRIGGER ON task TO " + m)
	if err := s.Guard(t.Context()); err != nil || s.Refused != nil {
		t.Fatalf("it looks before an hour has passed: %v", err)
	}
	s.looked = s.looked.Add(-doorTick)
	s.exec("BEGIN; LOCK TABLE task IN SHARE MODE")
	if err := s.Guard(t.Context()); !fault.Has(err, "55P03") || s.Refused != nil {
		t.Errorf("a lock is taken for a refusal: %v", err)
	}
	s.exec("COMMIT")
	if err := s.Guard(t.Context()); err != nil || !IsRefused(s.Refused) {
		t.Errorf("refused: %v, %v", s.Refused, err)
	}
}

func TestCheckSaysWhomTheTableHasToTrust(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	m := s.stranger()
	s.exec("CREATE SCHEMA postgres; GRANT CREATE ON SCHEMA public TO " + m + "; GRANT UPDATE ON SEQUENCE task_id_seq TO " + m)
	check := func() Report {
		k := Checker{Try: Tries{Role: func(context.Context, *target.Target, string, int) error { return nil }}}
		defer k.Close()
		return k.Check(t.Context(), s.Target)
	}
	r := check()
	want := `role "` + m + `" may CREATE in schema public: REVOKE CREATE ON SCHEMA public FROM ` + m + `, or trust the role: "trust": ["` + m + `"]`
	if !slices.Equal(r.Faults, []string{want}) {
		t.Errorf("it says %q", r.Faults)
	}
	want = `role "` + m + `" has UPDATE on sequence public.task_id_seq: REVOKE UPDATE ON SEQUENCE public.task_id_seq FROM ` + m
	if !slices.Contains(r.Doubts, want) {
		t.Errorf("it warns of %q", r.Doubts)
	}
	s.Target.Trust = []string{"PUBLIC"}
	if r := check(); len(r.Faults) > 0 {
		t.Errorf("everybody is trusted: %q", r.Faults)
	}
}

// TestWhatIsMadeIsNobodyElses, even if default privileges give others rights on new tables.
func TestWhatIsMadeIsNobodyElses(t *testing.T) {
	t.Parallel()
	s := stageOn(t, servertest.Database(t))
	m := s.stranger()
	s.exec("ALTER DEFAULT PRIVILEGES FOR ROLE postgres GRANT ALL ON TABLES TO " + m)
	s.Target.Inserter = true // otherwise they may run SQL as the serving role anyway
	s.look()
	if got := servertest.Get(t, s.conn, "SELECT string_agg(c.relname, ' ') FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') "+
		"AND has_table_privilege($1, c.oid, 'TRIGGER, REFERENCES')", m); got != servertest.Null {
		t.Errorf("%s has TRIGGER on %s", m, got)
	}
	if log := s.log.String(); !strings.Contains(log, "ALTER DEFAULT PRIVILEGES FOR ROLE postgres REVOKE REFERENCES, TRIGGER ON TABLES FROM "+m) {
		t.Error(log)
	}
}
