package work

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/work/target"
)

// candidate is a loop with a control connection that does nothing by itself.
func (s *stage) candidate(role string) *loop {
	s.t.Helper()
	served := s.target
	served.Connect = served.Connect.With(remote.Settings{"user": role})
	l := newLoop(s.t.Context(), served, target.NewLog(zerologNone, nil))
	c, err := prepare(s.t.Context(), served, false, zerologNone)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.close)
	l.control = c
	return l
}

// TestNeverTwoLeaders: of eight candidates under two roles at most one leads at each moment,
// however often they change.
func TestNeverTwoLeaders(t *testing.T) {
	t.Parallel()
	s := owned(t)
	s.installed()
	own, other := s.target.Connect["user"], s.role()
	var candidates sync.WaitGroup
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
	if terms.Load() < 10 {
		t.Error("hardly anybody came to lead")
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
		return errors.New("another controller leads as well")
	}
	terms.Add(1)
	time.Sleep(rand.N(3 * time.Millisecond))
	leaders.Add(-1)
	return l.control.leads.release(ctx, l.control.conn)
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
