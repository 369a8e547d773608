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
	if err := l.table.Connect(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.control.Close)
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
		l.leads.looked = time.Time{}
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
	return l.leads.release(ctx, l.control.Conn())
}
