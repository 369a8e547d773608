package work

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/sql/lock"
)

// numbers is SQL for the arguments with which lock functions take an advisory lock in pg_locks.
const numbers = "CASE objsubid WHEN 1 THEN ((classid::int8 << 32) + objid::int8)::text " +
	"ELSE (classid::int8::bit(32)::int4)::text || ', ' || (objid::int8::bit(32)::int4)::text END"

// leaderKey returns the arguments of the lock that a leader takes when nobody else holds it.
func (s *stage) leaderKey() (key string) {
	s.t.Helper()
	k := lock.Leadership(s.target.Relation(), false)
	if leads, err := k.Take(s.t.Context(), s.conn); err != nil || !leads {
		s.t.Fatal(leads, err)
	}
	key = s.get("SELECT " + numbers + " FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
	s.exec("SELECT pg_advisory_unlock_all()")
	return key
}

// ways to hold a lock without end; $ stands for its arguments.
var ways = map[string]string{
	"session":             "SELECT pg_advisory_lock($)",
	"session, shared":     "SELECT pg_advisory_lock_shared($)",
	"transaction":         "BEGIN; SELECT pg_advisory_xact_lock($)",
	"transaction, shared": "BEGIN; SELECT pg_advisory_xact_lock_shared($)",
	"prepared":            "BEGIN; SELECT pg_advisory_xact_lock($); PREPARE TRANSACTION '@'",
}

// hold makes a role hold a lock in one of the ways. It returns the statement that frees the lock,
// as our messages show it.
func (s *stage) hold(role, way, key string) (end string) {
	s.t.Helper()
	conn := s.connectAs(role)
	name := "of " + role + " " + s.target.Connect["dbname"]
	s.on(conn, strings.NewReplacer("$", key, "@", name).Replace(ways[way]))
	if way == "prepared" {
		s.t.Cleanup(func() { _, _ = s.conn.Exec(context.WithoutCancel(s.t.Context()), "ROLLBACK PREPARED '"+name+"'") })
		return ": ROLLBACK PREPARED '" + name + "'"
	}
	return fmt.Sprintf(": SELECT pg_terminate_backend(%d)", conn.PgConn().PID())
}

// serves checks that a task is done soon.
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

// TestAStrangerThatHoldsTheLeadersLockIsNamed: for each way to hold it, before the first start and
// before a later one. The target is served when the lock is free.
func TestAStrangerThatHoldsTheLeadersLockIsNamed(t *testing.T) {
	t.Parallel()
	for way := range someOf(ways) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := owned(t)
			key := s.leaderKey()
			for range 2 {
				end := s.hold(s.role(), way, key)
				s.serve()
				s.says(`"warn"`, "another role leads", end)
				r := Check(t.Context(), s.target)
				if found := strings.Join(r.Lines, "\n"); !strings.Contains(found, end) || len(r.Faults) > 0 {
					t.Errorf("check says %q, %q", r.Lines, r.Faults)
				}
				s.exec(strings.TrimPrefix(end, ": "))
				s.serves()
				s.drain()
			}
		})
	}
}

// TestABusyLockAtTheFirstStart: somebody seems to lead for a moment when a target is first served.
// Its table is still created.
func TestABusyLockAtTheFirstStart(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	holder := s.connect()
	s.on(holder, "SELECT pg_advisory_lock("+s.leaderKey()+")")
	s.serve()
	s.says("standing by", fmt.Sprintf("pg_terminate_backend(%d)", holder.PgConn().PID()))
	s.on(holder, "SELECT pg_advisory_unlock_all()")
	s.settled()
	s.serves()
}

// TestATableThatWasSeenWhileStandingBy: it is not created again if somebody drops it.
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

// TestALockOfAColleagueDeposesNobody: if tasks run under the roles that insert them, many roles
// have the rights that serving needs.
func TestALockOfAColleagueDeposesNobody(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named("GRANT DELETE ON task TO $bob"))
	bob := c.as(c.bob)
	must(t, bob, "SELECT pg_advisory_lock(classid::int8::bit(32)::int4, (objid::int8 + 1)::bit(32)::int4) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid::int8 & 16777215 = 0 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	c.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'pgtaskd %' AND datname = current_database()")
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE", "")
	if strings.Contains(c.logged(), "another controller leads") {
		t.Error("bob is taken for a controller")
	}
}
