//go:build slow

package work

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// namesake is a session of a role's that calls itself like one of the target's.
func (s *stage) namesake(role string) *pgx.Conn {
	s.t.Helper()
	conn := s.connectAs(role)
	must(s.t, conn, "SET application_name = '"+sessionName(s.target, "group")+"'")
	return conn
}

// sleeps makes a session active until the end of the test.
func (s *stage) sleeps(conn *pgx.Conn) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Exec(ctx, "SELECT pg_sleep(60)")
	}()
	s.t.Cleanup(func() { cancel(); <-ended })
	s.eventually("active", "SELECT state FROM pg_stat_activity WHERE pid = $1", conn.PgConn().PID())
}

// orphans are tasks that an old leader has left: marked as run by a backend that is gone, and taken
// by pg_task.
func (s *stage) orphans() (marked, taken int64) {
	add := func(state string, start any) int64 {
		return s.add(`input, "group", state, attempt, pid, start`, "SELECT 1", "orphan "+state, state, 1, 1, start)
	}
	return add("WORK", "2020-01-01"), add("TAKE", nil)
}

// TestNamesakesAreLeftAlone: sessions that call themselves like the target's, and are not. None is
// ended, and none is waited for as if it ran a task.
func TestNamesakesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		other  bool // another role's
		before bool // it is there before the new leader leads
		taken  bool // the old leader has left a task that is only taken
	}{
		{"another role's, before", true, true, true},
		{"another role's, after", true, false, true},
		{"the role's, before", false, true, true},
		{"the role's, before, and all that is under way is marked", false, true, false},
		{"the role's, after", false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.drain()
			role := s.get("SELECT current_user")
			if c.other {
				role = s.role()
			}
			var pids []int32
			come := func() {
				for _, does := range []string{"", "BEGIN", "sleep"} {
					conn := s.namesake(role)
					pids = append(pids, int32(conn.PgConn().PID()))
					switch {
					case does == "sleep":
						s.sleeps(conn)
					case does == "BEGIN":
						must(t, conn, "BEGIN; SELECT 1")
					}
				}
			}
			if c.before {
				come()
				s.eventually("true", "SELECT bool_and(state_change < clock_timestamp() - interval '1.5 s') FROM pg_stat_activity WHERE pid = ANY ($1)", pids)
			}
			var marked, taken int64
			leave := func() {
				if marked, taken = s.orphans(); !c.taken {
					s.exec("DELETE FROM task WHERE id = $1", taken)
				}
			}
			if c.before {
				leave()
			}
			s.serve()
			s.until("led", func() bool { return s.leads() == 2 })
			if !c.before {
				s.eventually("true", "SELECT max(backend_start) < clock_timestamp() - interval '3 s' FROM pg_stat_activity WHERE application_name LIKE 'pgtaskd %' AND datname = current_database()")
				come()
				leave()
			}
			s.becomes(marked, "DONE")
			if c.taken {
				s.becomes(taken, "DONE")
			}
			s.eventually("true", "SELECT count(*) = 0 FROM task WHERE due IS NOT NULL")
			for _, pid := range pids {
				if n := s.get("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid); n != "1" {
					t.Error("a namesake was ended")
				}
			}
		})
	}
}

// TestStopWaitsForNoNamesake: a task that was only taken is set to STOP, and its leader is gone.
// Its end does not wait for another role's session.
func TestStopWaitsForNoNamesake(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.drain()
	conn := s.namesake(s.role())
	must(t, conn, "BEGIN; SELECT 1")
	_, taken := s.orphans()
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", taken)
	s.serve()
	s.eventually("false", "SELECT stop IS NULL FROM task WHERE id = $1", taken)
}

// TestRemoteOfAnotherTarget: its session in this database is named after a table that has the names
// of ours, and belongs to the same role.
func TestRemoteOfAnotherTarget(t *testing.T) {
	t.Parallel()
	s, other := play(t), play(t)
	s.drain()
	id := other.add("input, remote", "SELECT pg_sleep(60), 'remote'", s.dsn)
	other.becomes(id, "WORK")
	marked, taken := s.orphans()
	s.serve()
	s.becomes(marked, "DONE")
	s.becomes(taken, "DONE")
	if state := other.state(id); state != "WORK" {
		t.Error("the other target's task is ", state)
	}
}
