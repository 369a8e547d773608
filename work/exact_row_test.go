package work

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/work/run"
)

// TestARemoteTaskChangesItsOwnRow: its remote is the task's own database, where it has the row or
// the table locked when the row is to be prepared.
func TestARemoteTaskChangesItsOwnRow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	for input, want := range map[string]string{
		"UPDATE task SET data = 'mine' WHERE " + own:                            "DONE mine 1 0",
		"UPDATE task SET state = 'DONE' WHERE " + own:                           "DONE 1 0",
		"SELECT FROM task WHERE " + own + " FOR UPDATE":                         "DONE 1 0",
		"LOCK TABLE task IN SHARE MODE":                                         "DONE 1 0",
		"LOCK TABLE task":                                                       "DONE 1 0",
		"ALTER TABLE task ALTER priority SET DEFAULT 0":                         "DONE 1 0",
		"ALTER TABLE task ADD COLUMN number float8 DEFAULT random()":            "DONE 1 0",
		"UPDATE task SET data = 'mine' WHERE " + own + "; SELECT 1/0":           "FAIL 22012 1 0",
		"DELETE FROM task WHERE " + own:                                         "",
		"UPDATE task SET data = 'late' WHERE " + own + "; SELECT pg_sleep(0.3)": "DONE late 1 0",
	} {
		id := s.add(`input, remote, "group", "delete"`, writes+"; "+input, s.dsn, input, false)
		s.becomes(id, strings.SplitN(want, " ", 2)[0])
		if got := s.get("SELECT coalesce((SELECT concat_ws(' ', state, data, sqlstate, attempt, interrupted) FROM task WHERE id = $1), '')", id); got != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
		effects := "1"
		if strings.HasPrefix(want, "FAIL") {
			effects = "0"
		}
		if got := s.get("SELECT count(*) FROM effect WHERE id = $1", id); got != effects {
			t.Errorf("%s: %s effects", input, got)
		}
	}
	s.others()
}

// TestWhatIsDoneToARowThatIsPreparedOnARemote: as with a local run.
func TestWhatIsDoneToARowThatIsPreparedOnARemote(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, server.Options{})
	for name, c := range map[string]struct {
		change            string
		fits              func(*spoken) bool
		after             proxy.Verdict
		row, next, effect string // afterwards: the row, its repetition, and the effects
	}{
		"STOP, committed":   {"UPDATE task SET state = 'STOP'", commitBegins, proxy.Pass, "DONE", "STOP", "1"},
		"STOP, lost":        {"UPDATE task SET state = 'STOP'", commitEnds, proxy.PassThenCut, "DONE", "STOP", "1"},
		"STOP, aborted":     {"UPDATE task SET state = 'STOP'", commitBegins, proxy.Cut, "STOP", "NULL", "0"},
		"PLAN":              {"UPDATE task SET state = 'PLAN'", commitBegins, proxy.Pass, "DONE", "PLAN", "1"},
		"DELETE, committed": {"DELETE FROM task", commitBegins, proxy.Pass, "NULL", "NULL", "1"},
		"DELETE, lost":      {"DELETE FROM task", commitEnds, proxy.PassThenCut, "NULL", "NULL", "1"},
		"DELETE, aborted":   {"DELETE FROM task", commitBegins, proxy.Cut, "NULL", "NULL", "0"},
		"STOP before":       {"UPDATE task SET state = 'STOP'", fenceBegins, proxy.Pass, "STOP", "NULL", "0"},
		"DELETE before":     {"DELETE FROM task", fenceBegins, proxy.Pass, "NULL", "NULL", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := goAbroad(t, other)
			s.becomes(s.add("input, remote", "SELECT 1", s.remote), "DONE") // the fence is open
			id, open := s.atTheGate(c.fits, c.after, ", repeat", "1 day")
			s.exec(c.change+" WHERE id = $1", id)
			open()
			s.eventually("0", "SELECT count(*) FROM task WHERE state = 'WORK' OR stopping")
			s.far.eventually(c.effect, "SELECT count(*) FROM effect")
			if got := s.get("SELECT state FROM task WHERE id = $1", id); got != c.row {
				t.Error(got, s.row(id, "error, runs"))
			}
			if got := s.get("SELECT state FROM task WHERE parent = $1", id); got != c.next {
				t.Error("the repetition: ", got)
			}
			if c.row == "STOP" && s.row(id, "stop IS NOT NULL AS stop, xact, sqlstate") != `{"stop":true,"xact":null,"sqlstate":"57014"}` {
				t.Error(s.row(id, "stop, xact, sqlstate"))
			}
			s.others()
			if got := s.far.get("SELECT count(*) FROM effect"); got != c.effect {
				t.Error("later: ", got, " effects")
			}
		})
	}
}

// TestARemoteBehindAPooler shows another process id than the server.
func TestARemoteBehindAPooler(t *testing.T) {
	t.Parallel()
	s, p := play(t), throughProxy(t)
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if !fromClient && kind == 'K' {
			body[3]++
		}
		return proxy.Pass
	})
	s.exec("CREATE TABLE effect (id int8)")
	id := s.add("input, remote", writes, p.DSN(s.dsn))
	s.becomes(id, "DONE")
	if got := s.row(id, "atomic, output"); got != `{"atomic":false,"output":"INSERT 0 1"}` {
		t.Error(got)
	}
}

// TestASynchronousStandbyOfARemoteIsAway: the fence waits. If it fails, the run is rolled back, and
// the task runs when the standby is back.
func TestASynchronousStandbyOfARemoteIsAway(t *testing.T) {
	t.Parallel()
	s := goAbroad(t, servertest.New(t, server.Options{}))
	s.becomes(s.add("input, remote", writes, s.remote), "DONE")
	id, open := s.atTheGate(fenceBegins, proxy.Pass, "")
	needs := func(standbys string) {
		s.far.exec("ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'")
		s.far.exec("SELECT pg_reload_conf()")
		s.far.eventually(standbys, "SELECT current_setting('synchronous_standby_names')")
	}
	needs("nobody")
	probe, enough := s.far.connect(), make(chan struct{}, 1) // COMMITs wait from when the checkpointer has read the setting
	go func() {
		for len(enough) == 0 && probe.PgConn().Exec(context.Background(), "SELECT txid_current()").Close() == nil {
		}
	}()
	s.far.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	enough <- struct{}{}
	open()
	const waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'pgtaskd %'"
	for range 2 { // the second one is opened when the first is lost
		s.far.eventually("1", "SELECT count(*) "+waits)
		if got := s.row(id, "state, xact"); got != `{"state":"WORK","xact":null}` {
			t.Error(got)
		}
		pid := s.far.get("SELECT pid " + waits)
		s.far.exec("SELECT pg_terminate_backend(" + pid + ")")
		s.far.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE pid = "+pid)
	}
	s.eventually("PLAN", "SELECT state FROM task WHERE id = $1", id)
	if n := s.effects(id); n != "0" {
		t.Error(n, "effects")
	}
	s.others()
	needs("")
	s.ends(id, "DONE 1 0 1")
}

// TestARemoteRunOfARoleIsJudged: nobody has seen the answer to its COMMIT.
func TestARemoteRunOfARoleIsJudged(t *testing.T) {
	t.Parallel()
	var s *abroad
	c := employed(t, func(c *company) {
		s = neighbour(c.stage, servertest.New(t, server.Options{}))
		c.target.Remotes = map[string]string{"far": s.remote}
	})
	for _, way := range []struct {
		fits func(*spoken) bool
		does proxy.Verdict
		want string
	}{{commitEnds, proxy.PassThenCut, "DONE 1 0 1"}, {commitBegins, proxy.Cut, "DONE 2 1 1"}} {
		met := s.there.once(way.fits, func() proxy.Verdict { return way.does })
		id := c.asks(c.alice, writes, "remote", "'far'")
		s.wait(met)
		s.ends(id, way.want)
	}
}

// TestARemoteRunWhoseMarkIsLostIsNotPrepared: after a crash of the task's server, a later version of
// the row may have the number of the one that the run has read.
func TestARemoteRunWhoseMarkIsLostIsNotPrepared(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	for mark, want := range map[bool]run.Prepared{true: run.Taken, false: run.Untaken} {
		id := s.add("input, remote", writes, s.dsn)
		task := &run.Task{Row: run.Row{ID: id, Version: s.version(id), Rerun: true}}
		if mark {
			servertest.Replicate(t, s.conn, "UPDATE task SET state = 'WORK', pid = 7 WHERE id = $1", id)
		}
		answer := make(chan run.Prepared, 1)
		go func() {
			got, _ := l.inbox.Prepare(t.Context(), task, run.Preparation{PID: 7, Start: time.Now(), Xact: 1, Place: "1/1/00000001"})
			answer <- got
		}()
		s.until("the answer", func() bool {
			s.succeeds(l.ledger.Step(t.Context(), l.control.Conn()))
			return len(answer) > 0
		})
		if got := <-answer; got != want {
			t.Errorf("marked %v: %v, want %v", mark, got, want)
		}
	}
}
