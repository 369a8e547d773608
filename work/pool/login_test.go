package pool

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// try makes n logins of a role at once that each take as long, and returns how many were put off,
// and for how long the last one.
func (l *logins) try(n int, role string, takes time.Duration) (off int, longest time.Duration) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for range n {
		all.Go(func() {
			err := l.login(context.Background(), role, func(ctx context.Context) error {
				select {
				case <-time.After(takes):
				case <-ctx.Done():
				}
				return ctx.Err()
			})
			mu.Lock()
			defer mu.Unlock()
			if put := new(PutOff); errors.As(err, &put) {
				off++
				longest = max(longest, put.After)
			}
		})
	}
	all.Wait()
	return off, longest
}

// TestQuickLoginsAreNotBounded, however many there are.
func TestQuickLoginsAreNotBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := logins{of: map[string]*loginsOf{}}
		for range 3 {
			if off, _ := l.try(1000, "alice", loginQuick-time.Millisecond); off > 0 {
				t.Errorf("%d were put off", off)
			}
		}
		if len(l.of) > 0 {
			t.Error("a role is remembered")
		}
	})
}

// TestOneSlowLoginOfARoleIsMadeAtATime: others of the role wait outside, each for another time, and
// those of another role do not. Each that is quick lets one more be made at once.
func TestOneSlowLoginOfARoleIsMadeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := logins{of: map[string]*loginsOf{}}
		began := time.Now()
		off, longest := l.try(100, "alice", 5*time.Second)
		if took := time.Since(began); off != 99 || took != 5*time.Second || longest != loginLater+98*loginEach {
			t.Errorf("%d were put off for %s at most, in %s", off, longest, took)
		}
		if off, longest := l.try(1000, "alice", 5*time.Second); off != 999 || longest != patienceLong {
			t.Errorf("then %d for %s at most", off, longest)
		}
		go l.try(1, "alice", 5*time.Second)
		synctest.Wait()
		began = time.Now()
		if off, _ := l.try(100, "alice", 5*time.Second); off != 100 || time.Since(began) > 0 {
			t.Errorf("while one is made, %d, after %s", off, time.Since(began))
		}
		if off, _ := l.try(100, "bob", 0); off > 0 {
			t.Errorf("%d of another role", off)
		}
		time.Sleep(5 * time.Second)
		for quick := range loginsMany - 1 {
			if off, _ := l.try(100, "carol", 0); off > 0 {
				t.Errorf("%d of another role", off)
			}
			if most := l.of["alice"].most; most != quick+1 {
				t.Errorf("%d at once after %d quick ones", most, quick)
			}
			l.try(1, "alice", 0)
		}
		if off, _ := l.try(100, "alice", 0); off > 0 || len(l.of) > 0 {
			t.Errorf("%d when all are quick again; %d roles are remembered", off, len(l.of))
		}
	})
}
