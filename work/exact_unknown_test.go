package work

import (
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// hangs adds a task that is prepared on the remote, whose COMMIT has passed if passed is true, and
// whose remote cannot be reached now.
func (s *abroad) hangs(passed bool, columns string, values ...any) (id int64) {
	s.t.Helper()
	fits, verdict := commitBegins, proxy.Cut
	if passed {
		fits, verdict = commitEnds, proxy.PassThenCut
	}
	id, open := s.atTheGate(fits, verdict, columns, values...)
	s.there.Refuse(true)
	open()
	s.says("cannot ask a remote how a run has ended")
	s.far.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
	if got, want := s.effects(id), map[bool]string{true: "1", false: "0"}[passed]; got != want {
		s.t.Fatal(got, "effects")
	}
	return id
}

// isUnknown checks that the task FAILs, once and for all, and says why, and that it is counted and
// on_fail applies.
func (s *abroad) isUnknown(id int64, why string) {
	s.t.Helper()
	s.becomes(id, "FAIL")
	const says = "ERROR:  it is not known whether the task's transaction was committed\nDETAIL:  "
	if got := s.get("SELECT error FROM task WHERE id = $1", id); !strings.HasPrefix(got, says+why) {
		s.t.Error(got)
	}
	if got := s.row(id, "sqlstate, attempt, xact, xact_at"); got != `{"sqlstate":"TK003","attempt":1,"xact":null,"xact_at":null}` {
		s.t.Error(got)
	}
	s.until("the count", func() bool { return s.stats.Read().Unknown == 1 })
	s.eventually("DONE", "SELECT state FROM task WHERE parent = $1 AND input = 'SELECT 1'", id)
}

// TestItIsNotKnownHowARemoteRunHasEnded: another server or database is in the place of the remote.
func TestItIsNotKnownHowARemoteRunHasEnded(t *testing.T) {
	t.Parallel()
	one, two := servertest.New(t, server.Options{}), servertest.New(t, server.Options{})
	for name, replaces := range map[string]func(*abroad, string){
		"server": func(s *abroad, name string) {
			stageOn(t, two.DSN("postgres")).exec("CREATE DATABASE " + name)
			s.moves(two)
		},
		"database": func(s *abroad, name string) {
			again := stageOn(t, one.DSN("postgres"))
			s.there.Cut()
			again.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", name)
			again.exec("ALTER DATABASE " + name + " RENAME TO " + name + "_old")
			again.exec("CREATE DATABASE " + name)
		},
		"remote of the row": func(s *abroad, _ string) {
			s.exec("UPDATE task SET remote = NULL WHERE state = 'WORK'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := goAbroad(t, one)
			id := s.hangs(true, ", retry, backoff, on_fail", 3, "1 ms", "SELECT 1")
			s.succeeds(s.far.conn.Close(t.Context()))
			replaces(s, s.get("SELECT current_database()"))
			s.there.Refuse(false)
			s.isUnknown(id, "Another server, or another database, is now in the place of its remote.")
		})
	}
}

// TestARemoteFailsOver between PREPARE and the answer to COMMIT. A standby decides nothing. If it has
// the transaction once it is promoted, that may be another one; if not, the task runs again there.
func TestARemoteFailsOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ passes, arrives bool }{
		"committed":             {true, true},
		"committed, but behind": {true, false},
		"not committed":         {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary := servertest.New(t, server.Options{})
			s := goAbroad(t, primary)
			standby := servertest.Standby(t, primary)
			if !c.arrives {
				s.far.eventually("1", "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()")
				s.succeeds(standby.Crash())
			}
			id := s.hangs(c.passes, ", retry, backoff, on_fail", 3, "1 ms", "SELECT 1")
			if c.arrives {
				s.far.exec("SELECT txid_current()")
				s.far.eventually("1", "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()")
			}
			s.succeeds(primary.Crash())
			if !c.arrives { // once the primary has gone: it would send the rest
				s.succeeds(standby.Restart(t.Context()))
			}
			s.moves(standby)
			asks := make(chan struct{}, 100)
			s.there.on(func(w *spoken) proxy.Verdict {
				if w.locates {
					asks <- struct{}{}
				}
				return proxy.Pass
			})
			s.there.Refuse(false)
			s.until("the standby to be asked twice", func() bool { return len(asks) > 1 })
			if s.state(id) != "WORK" {
				t.Error("the standby has decided")
			}
			s.succeeds(standby.Promote(t.Context()))
			s.far = stageOn(t, standby.DSN(s.get("SELECT current_database()")))
			if c.passes && c.arrives {
				s.isUnknown(id, "Its remote has failed over to a standby since.")
			} else {
				s.ends(id, "DONE 2 1 1")
			}
		})
	}
}

// TestARemoteIsAway: the row waits, and other lanes go on. After a day the task FAILs.
func TestARemoteIsAway(t *testing.T) {
	t.Parallel()
	s := goAbroad(t, servertest.New(t, server.Options{}))
	id := s.hangs(true, ", on_fail", "SELECT 1")
	s.others()
	if got := s.row(id, "state, xact IS NOT NULL AS xact"); got != `{"state":"WORK","xact":true}` {
		t.Error(got)
	}
	s.exec("UPDATE task SET stop = stop - interval '1 day' WHERE id = $1", id)
	s.isUnknown(id, "Its remote could not be asked for 24 h.")
}

// TestNobodyHasLedForDays: a remote that can be asked knows how a run has ended.
func TestNobodyHasLedForDays(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.exec("CREATE TABLE effect (id int8)")
	id := s.add("input, remote, state, start, stop, xact, xact_at, output", writes, s.dsn, "WORK", time.Now().AddDate(0, 0, -3), time.Now().AddDate(0, 0, -2),
		1, s.get("SELECT concat(system_identifier, '/', oid, '/00000001') FROM pg_control_system(), pg_database WHERE datname = current_database()"), "INSERT 0 1")
	s.exec("UPDATE task SET xact = txid_current()")
	s.serve()
	s.becomes(id, "DONE")
	if got := s.row(id, "output, attempt, interrupted"); got != `{"output":"INSERT 0 1","attempt":0,"interrupted":0}` {
		t.Error(got)
	}
}

// TestARemoteIsPromoted: a session that was opened while it was a standby can be exactly once.
func TestARemoteIsPromoted(t *testing.T) {
	t.Parallel()
	primary := servertest.New(t, server.Options{})
	s := goAbroad(t, primary)
	standby := servertest.Standby(t, primary)
	s.moves(standby)
	first := s.add("input, remote", "SELECT pg_backend_pid()", s.remote)
	s.becomes(first, "DONE")
	s.succeeds(standby.Promote(t.Context()))
	s.far = stageOn(t, standby.DSN(s.get("SELECT current_database()")))
	second := s.add("input, remote", writes+" RETURNING pg_backend_pid()", s.remote)
	s.ends(second, "DONE 1 0 1")
	if got := s.get("SELECT split_part(output, E'\\n', 1) || ' ' || atomic FROM task WHERE id = $1", second); got != s.get("SELECT output || ' true' FROM task WHERE id = $1", first) {
		t.Error(got, s.row(first, "output"))
	}
}
