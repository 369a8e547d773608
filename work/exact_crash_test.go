package work

import (
	"strings"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// late writes its log to the disk only when a COMMIT asks for it.
var late = server.Options{Settings: map[string]string{"wal_writer_delay": "10s"}}

// atTheGate starts a task, and stops the message that fits until the function is called.
func (s *abroad) atTheGate(fits func(*spoken) bool, after proxy.Verdict, columns string, values ...any) (id int64, open func()) {
	s.t.Helper()
	gate := make(chan struct{})
	met := s.there.once(fits, func() proxy.Verdict { <-gate; return after })
	id = s.add("input, remote"+columns, append([]any{writes, s.remote}, values...)...)
	s.wait(met)
	return id, func() { close(gate) }
}

// TestARemoteCrashesBeforeCommit, and gives no other transaction the id of the run's: others write
// there before the run is judged. Without the fence, the run's id would be committed by then.
func TestARemoteCrashesBeforeCommit(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, late)
	for rerun, want := range map[bool]string{true: "DONE 2 1 1", false: "FAIL 08006 1 1 0"} {
		s := goAbroad(t, other)
		s.far.exec("CREATE TABLE other ()")
		id, open := s.atTheGate(commitBegins, proxy.Cut, ", rerun", rerun)
		xact := s.get("SELECT xact FROM task WHERE id = $1", id)
		s.there.Refuse(true)
		s.crashes(other)
		open()
		for s.far.get("SELECT txid_current() <= $1::text::int8", xact) == "true" {
			s.far.exec("INSERT INTO other DEFAULT VALUES")
		}
		s.far.exec("INSERT INTO other DEFAULT VALUES")
		if s.state(id) != "WORK" {
			t.Fatal("it is judged already")
		}
		s.there.Refuse(false)
		s.ends(id, want)
	}
}

// crashes crashes the server of the remote, and starts it again.
func (s *abroad) crashes(other *server.Server) {
	s.t.Helper()
	s.succeeds(other.Crash())
	s.succeeds(other.Restart(s.t.Context()))
	s.far.conn = s.far.connect()
}

// TestARemoteCrashesAfterDone: the effects are there, although the task has tried to lower
// synchronous_commit, also behind our back: in a deferred trigger, and by a cursor WITH HOLD.
func TestARemoteCrashesAfterDone(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, late)
	s := goAbroad(t, other)
	s.far.exec(`CREATE FUNCTION lowers() RETURNS text LANGUAGE sql AS $$SELECT set_config('synchronous_commit', 'off', true)$$;
		CREATE FUNCTION defers() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM public.lowers(); RETURN NULL; END$$;
		CREATE TABLE deferred (LIKE effect);
		CREATE CONSTRAINT TRIGGER defers AFTER INSERT ON deferred DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION defers()`)
	for _, how := range []string{
		"", "SET synchronous_commit TO off", "SET LOCAL synchronous_commit TO local", "INSERT INTO deferred VALUES (1)",
		"DECLARE c CURSOR WITH HOLD FOR SELECT lowers()", "SET CONSTRAINTS ALL DEFERRED; INSERT INTO deferred VALUES (1)",
	} {
		id := s.add("input, remote", strings.Join([]string{writes, how}, "; "), s.remote)
		s.ends(id, "DONE 1 0 1")
		s.crashes(other)
		if n := s.effects(id); n != "1" {
			t.Errorf("%s: DONE, and %s effects", how, n)
		}
	}
}
