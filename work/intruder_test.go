package work

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// numbers are those of an advisory lock in pg_locks, as its functions take them.
const numbers = "CASE objsubid WHEN 1 THEN ((classid::int8 << 32) + objid::int8)::text " +
	"ELSE (classid::int8::bit(32)::int4)::text || ', ' || (objid::int8::bit(32)::int4)::text END"

var roles atomic.Int64

// role makes one that may connect, and nothing else, for the time of the test.
func (s *stage) role() (name string) {
	s.t.Helper()
	name = fmt.Sprintf("role_%d", roles.Add(1))
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		_, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			s.t.Error(err)
		}
	})
	return name
}

// connectAs opens a connection of a role's.
func (s *stage) connectAs(role string) *pgx.Conn {
	s.t.Helper()
	return servertest.Connect(s.t, s.dsn+" user="+role)
}

// on runs statements on another connection of the test's.
func (s *stage) on(conn *pgx.Conn, sql string) {
	s.t.Helper()
	servertest.Exec(s.t, conn, sql)
}

// says waits for a line of the log that has all the parts.
func (s *stage) says(parts ...string) {
	s.t.Helper()
	s.until("the log to say "+strings.Join(parts, ", "), func() bool {
		for line := range strings.Lines(s.logged()) {
			all := true
			for _, part := range parts {
				all = all && strings.Contains(line, part)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// owned is a stage whose target is served by a role of its own, which is no superuser.
func owned(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	s := prepared(t, change...)
	role := s.role()
	s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + role)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.target.Admin = s.target.Connect
	return s
}

// leaderKey are the numbers of the lock that a leader takes when nobody is in the way.
func (s *stage) leaderKey() (key string) {
	s.t.Helper()
	k := sql.Leadership(table(s.target), false)
	if leads, err := k.Take(s.t.Context(), s.conn); err != nil || !leads {
		s.t.Fatal(leads, err)
	}
	key = s.get("SELECT " + numbers + " FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
	if err := k.Release(s.t.Context(), s.conn); err != nil {
		s.t.Fatal(err)
	}
	return key
}

// ways are those in which a lock can be held without end; $ stands for its numbers.
var ways = map[string]string{
	"session":             "SELECT pg_advisory_lock($)",
	"session, shared":     "SELECT pg_advisory_lock_shared($)",
	"transaction":         "BEGIN; SELECT pg_advisory_xact_lock($)",
	"transaction, shared": "BEGIN; SELECT pg_advisory_xact_lock_shared($)",
	"prepared":            "BEGIN; SELECT pg_advisory_xact_lock($); PREPARE TRANSACTION '@'",
}

// hold has a role hold a lock in one of the ways, and returns what to call that.
func (s *stage) hold(role, way, key string) (called string) {
	s.t.Helper()
	conn := s.connectAs(role)
	name := "of " + role + " " + s.target.Connect["dbname"]
	s.on(conn, strings.NewReplacer("$", key, "@", name).Replace(ways[way]))
	if way == "prepared" {
		s.t.Cleanup(func() {
			if _, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "ROLLBACK PREPARED '"+name+"'"); err != nil {
				s.t.Error(err)
			}
		})
		return fmt.Sprintf(`prepared transaction \"%s\" of role \"%s\"`, name, role)
	}
	return fmt.Sprintf(`pid %d of role \"%s\"`, conn.PgConn().PID(), role)
}

// serves fails the test unless a task is done soon.
func (s *stage) serves() {
	s.t.Helper()
	servertest.Wait(s.t, 5*time.Second, "a task is done", func() bool {
		return s.get("SELECT to_regclass('public.task') IS NOT NULL AND EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass('public.task'))") == "true"
	})
	began := time.Now()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if took := time.Since(began); took > servertest.Limit(5*time.Second) {
		s.t.Errorf("a task took %s", took)
	}
}

// TestWhoMayConnectHoldsTheLeadersLock in whatever way, before the first start and before a later
// one: the target is served, and who holds it is named.
func TestWhoMayConnectHoldsTheLeadersLock(t *testing.T) {
	t.Parallel()
	for way := range someOf(ways) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := owned(t)
			called := s.hold(s.role(), way, s.leaderKey())
			for range 2 {
				s.serve()
				s.serves()
				s.says(`"warn"`, called, "leadership")
				r := Check(t.Context(), s.target)
				if found := strings.ReplaceAll(strings.Join(r.Lines, "\n"), `"`, `\"`); !strings.Contains(found, called) || len(r.Faults) > 0 {
					t.Errorf("check says %q, %q", r.Lines, r.Faults)
				}
				s.drain()
			}
		})
	}
}

// TestABusyLockAtTheFirstStart: somebody is believed to lead for a moment when a target is served
// for the first time: its table is made nevertheless.
func TestABusyLockAtTheFirstStart(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	holder := s.connect()
	s.on(holder, "SELECT pg_advisory_lock("+s.leaderKey()+")")
	s.serve()
	s.says("standing by", fmt.Sprintf(`"pid":%d`, holder.PgConn().PID()), `"role":"postgres"`)
	s.on(holder, "SELECT pg_advisory_unlock_all()")
	s.settled()
	s.serves()
}

// TestATableThatWasSeenWhileStandingBy is not made again: somebody has taken it away.
func TestATableThatWasSeenWhileStandingBy(t *testing.T) {
	t.Parallel()
	s := play(t)
	second := &stage{t: t, dsn: s.dsn, target: s.target, conn: s.connect()}
	second.serve()
	second.says(`"info"`, "standing by: another controller leads")
	s.exec("DROP TABLE task")
	s.drain()
	second.says("is gone")
}

// TestTakeoverBesideAStranger who waits for the leader's lock, and gets it when the leader dies,
// goes or freezes: the second controller leads soon.
func TestTakeoverBesideAStranger(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"killed", "drained", "frozen"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := throughProxy(t)
			s := owned(t, func(target *Target) {
				var err error
				if target.Connect, err = remote.Parse(p.DSN(servertest.Server(t).DSN(target.Connect["dbname"]))); err != nil {
					t.Fatal(err)
				}
			})
			role, key := s.role(), s.leaderKey()
			s.serve()
			s.settled()
			second := &stage{t: t, dsn: s.dsn, target: s.target, conn: s.connect()}
			second.target.Connect = targetOf(t, s.dsn).Connect.With(remote.Settings{"user": s.target.Connect["user"]})
			second.serve()
			second.says("standing by")
			conn, held := s.connectAs(role), make(chan error, 1)
			go func() {
				_, err := conn.Exec(context.WithoutCancel(t.Context()), "SELECT pg_advisory_lock("+key+")")
				held <- err
			}()
			s.eventually("1", "SELECT count(*) FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND NOT granted", conn.PgConn().PID())
			switch name {
			case "killed":
				s.exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted " +
					"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
			case "drained":
				s.drain()
			case "frozen":
				// Not in the middle of a command, whose rest the server would await without end.
				s.until("it to freeze while it is idle", func() bool {
					p.Stall(true)
					idle := s.get("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND pid = (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted "+
						"AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))") == "1"
					p.Stall(idle)
					return idle
				})
				defer p.Stall(false)
			}
			select {
			case err := <-held:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(servertest.Limit(2 * time.Minute)):
				t.Fatal("the leader has its lock still")
			}
			began := time.Now()
			second.until("led again", func() bool { return s.leads()+second.leads() > 1 })
			s.serves()
			if took := time.Since(began); took > servertest.Limit(10*time.Second) {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// trusts makes a role a member of the table's owner, whose rights it does not have by that.
func (s *stage) trusts(role string) {
	s.t.Helper()
	s.exec("ALTER ROLE " + role + " NOINHERIT; GRANT " + s.target.Connect["user"] + " TO " + role)
}
