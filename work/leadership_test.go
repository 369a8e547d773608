package work

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// candidate is a loop with a control connection that does nothing by itself.
func (s *stage) candidate(role string) *loop {
	s.t.Helper()
	target := s.target
	target.Connect = target.Connect.With(remote.Settings{"user": role})
	l := newLoop(s.t.Context(), target, zerologNone)
	c, err := prepare(s.t.Context(), target, false, zerologNone)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.close)
	l.control = c
	return l
}

// TestNeverTwoLeaders: of eight candidates under two roles at most one leads at each moment,
// however often they change, whether nobody is in their way or strangers hold locks, take what is
// let go, and wait for what is held.
func TestNeverTwoLeaders(t *testing.T) {
	t.Parallel()
	for _, strange := range []bool{false, true} {
		t.Run(map[bool]string{false: "alone", true: "strangers"}[strange], func(t *testing.T) {
			t.Parallel()
			s := owned(t)
			s.installed()
			own, other := s.target.Connect["user"], s.role()
			s.trusts(other)
			s.exec("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO " + other)
			ctx, cancel := context.WithCancel(t.Context())
			var strangers, candidates sync.WaitGroup
			if strange {
				key := s.leaderKey()
				s.hold(s.role(), "session", key)
				s.disturb(ctx, &strangers, s.role())
			}
			var leaders, terms atomic.Int64
			const enough = 300
			end := time.Now().Add(10 * time.Second)
			for i := range 8 {
				l := s.candidate([]string{own, other}[i%2])
				candidates.Go(func() {
					for time.Now().Before(end) && terms.Load() < enough {
						if err := l.oneTerm(t.Context(), &leaders, &terms); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			candidates.Wait()
			cancel()
			strangers.Wait()
			t.Log(terms.Load(), "terms")
			if terms.Load() < 10 {
				t.Error("hardly anybody came to lead")
			}
		})
	}
}

// term leads for a moment, if it can.
func (l *loop) oneTerm(ctx context.Context, leaders, terms *atomic.Int64) error {
	if rand.IntN(2) == 0 {
		l.control.leads.looked = time.Time{}
	}
	leads, err := l.elect(ctx)
	if err != nil || !leads {
		time.Sleep(rand.N(5 * time.Millisecond))
		return err
	}
	if n := leaders.Add(1); n > 1 {
		return errNotAlone
	}
	terms.Add(1)
	time.Sleep(rand.N(3 * time.Millisecond))
	leaders.Add(-1)
	return l.control.leads.own.Release(ctx, l.control.conn)
}

// disturb has a role take what anybody can see of the leaders' locks, and let it go again.
func (s *stage) disturb(ctx context.Context, disturbers *sync.WaitGroup, role string) {
	for range 3 {
		conn := s.connectAs(role)
		disturbers.Go(func() {
			for ctx.Err() == nil {
				_, err := conn.Exec(context.WithoutCancel(ctx), "SET lock_timeout = '20ms'; DO $$DECLARE l record; BEGIN "+
					"FOR l IN SELECT classid::int8::bit(32)::int4 AS a, objid::int8::bit(32)::int4 AS b FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 LOOP "+
					"BEGIN PERFORM pg_advisory_xact_lock(l.a, l.b); EXCEPTION WHEN lock_not_available THEN NULL; END; END LOOP; END$$")
				if err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
}

// TestStrangersAreNamedOnce, and no more than one of a role.
func TestStrangersAreNamedOnce(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	tr := &trouble{log: zerolog.New(s)}
	k := sql.Leadership(table(s.target), false)
	meet := func(holders ...sql.Holder) (lines int) {
		before := len(s.logged())
		k.Strangers = holders
		tr.meet(k)
		for _, c := range s.logged()[before:] {
			if c == '\n' {
				lines++
			}
		}
		return lines
	}
	a, b, c := sql.Holder{PID: 1, Role: "a"}, sql.Holder{PID: 2, Role: "a"}, sql.Holder{Role: "c", Prepared: "x"}
	for i, step := range []struct {
		holders []sql.Holder
		lines   int
	}{
		{[]sql.Holder{a}, 1}, {[]sql.Holder{a}, 0}, {[]sql.Holder{a, b}, 0}, {[]sql.Holder{a, c}, 1}, {[]sql.Holder{c}, 0},
	} {
		if lines := meet(step.holders...); lines != step.lines {
			t.Errorf("step %d: %d lines", i, lines)
		}
	}
}

// TestPreparedTransactionsAreNotSaidToHaveNoRight: one holds a lock of ours if it has inserted a
// task, as its role may.
func TestPreparedTransactionsAreNotSaidToHaveNoRight(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("BEGIN")
	s.add("input", "SELECT 1")
	s.exec("PREPARE TRANSACTION 'pre'")
	d, err := sql.Describe(t.Context(), s.conn, table(s.target))
	if err != nil {
		t.Fatal(err)
	}
	k := sql.Sleep(table(s.target), d.Waking)
	err = k.Look(t.Context(), s.conn)
	s.exec("ROLLBACK PREPARED 'pre'")
	if err != nil || len(k.Strangers) != 1 || k.Rival != nil {
		t.Fatal(k.Strangers, k.Rival, err)
	}
	if said := passedOver(k, k.Strangers[0]); strings.Contains(said, "no right") || !strings.Contains(said, "\"pre\"") {
		t.Error(said)
	}
}

// TestAFormerControlSessionDoesNotKeepTheLead: one that is at a statement which obeys no cancel holds
// the leader's lock for as long as that lasts, unless it is ended.
func TestAFormerControlSessionDoesNotKeepTheLead(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	former, err := connect(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	stuck := make(chan error, 1)
	go func() {
		_, err := former.conn.Exec(context.WithoutCancel(t.Context()), "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$")
		stuck <- err
	}()
	s.eventually("active", "SELECT state FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", former.pid)
	s.exec("SELECT pg_cancel_backend($1)", former.pid)
	now, err := connect(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	defer now.close()
	stranger := &control{pid: former.pid, since: former.since.Add(-time.Microsecond)} // that had its process id before
	for _, c := range []*control{nil, stranger, {}} {
		if err := now.end(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if s.get("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", former.pid) != "1" {
		t.Error("another session was ended")
	}
	if err := now.end(t.Context(), former); err != nil {
		t.Error(err)
	}
	if err := <-stuck; err == nil {
		t.Error("it has obeyed after all")
	}
	former.close()
}
