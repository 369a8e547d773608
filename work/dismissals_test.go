package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgtaskd/routine"
	"pgtaskd/work/pool"
)

// trial is dismissals that reach no server.
type trial struct {
	*dismissals
	begun time.Time
	free  chan struct{} // until it is closed, logins hang
	fails bool

	mu           sync.Mutex
	atOnce, most int
	ended        map[string][]time.Duration // by role
	size         map[string][]int           // and how many backends each was for
}

func attempting(crew *routine.Group) *trial {
	a := &trial{begun: time.Now(), free: make(chan struct{}), ended: map[string][]time.Duration{}, size: map[string][]int{}}
	a.dismissals = newDismissals(crew, zerologNone, a.end)
	return a
}

func (a *trial) end(ctx context.Context, role string, those []pool.Backend) (err error) {
	a.count(1)
	defer a.count(-1)
	select {
	case <-a.free:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if a.fails {
		err = errors.New("no")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended[role], a.size[role] = append(a.ended[role], time.Since(a.begun)), append(a.size[role], len(those))
	return err
}

// when are the ends of a role's logins.
func (a *trial) when(role string) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ended[role])
}

func (a *trial) count(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.atOnce += n
	a.most = max(a.most, a.atOnce)
}

// TestDismissalsTakeFewLogins: one for all that there are of a role, few at once, and none is lost.
func TestDismissalsTakeFewLogins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		crew := routine.New(t.Context())
		a := attempting(crew)
		for role := range 10 {
			a.add(fmt.Sprint(role), pool.Backend{PID: 1})
			synctest.Wait() // those that come first are at it
			for pid := range 500 {
				a.add(fmt.Sprint(role), pool.Backend{PID: int32(2 + pid)})
			}
		}
		close(a.free)
		crew.Wait()
		if a.most != dismissLogins {
			t.Errorf("%d logins at once", a.most)
		}
		for role := range 10 {
			want := []int{1, 500}
			if role >= dismissLogins {
				want = []int{501}
			}
			if got := a.size[fmt.Sprint(role)]; !slices.Equal(got, want) {
				t.Errorf("role %d: logins for %d backends, want %d", role, got, want)
			}
		}
	})
}

// TestDismissalsOfARoleThatCannotLogIn are tried less and less, and then given up; those of others
// go on. There are never too many of them.
func TestDismissalsOfARoleThatCannotLogIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		crew := routine.New(t.Context())
		a := attempting(crew)
		a.fails = true
		close(a.free)
		for pid := range 2 * dismissMost {
			a.add("alice", pool.Backend{PID: int32(1 + pid)})
		}
		time.Sleep(time.Second)
		a.add("bob", pool.Backend{PID: 1})
		synctest.Wait()
		if got := a.when("bob"); len(got) != 1 || got[0] != time.Second {
			t.Errorf("bob's: %s", got)
		}
		crew.Wait()
		if got, want := a.when("alice"), []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 75 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("alice's: %s, want %s", got, want)
		}
		if got := slices.Max(a.size["alice"]); got != dismissMost || len(a.left) != 0 {
			t.Errorf("%d backends, and then %d roles", got, len(a.left))
		}
	})
}

// TestTheEndOfServingWaitsForDismissals that have not had their turn, for as long as a login may
// take; not for those that wait after a failure.
func TestTheEndOfServingWaitsForDismissals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration // until logins hang no more; 0: for ever
		fails bool
		want  time.Duration
	}{
		"none hangs for long": {after: time.Second, want: time.Second},
		"all hang":            {want: dismissLimit},
		"all fail":            {after: time.Second, fails: true, want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				crew := routine.New(t.Context())
				a := attempting(crew)
				a.fails = c.fails
				for role := range 10 {
					a.add(fmt.Sprint(role), pool.Backend{PID: 1})
				}
				if c.after > 0 {
					time.AfterFunc(c.after, func() { close(a.free) })
				}
				a.await()
				if took := time.Since(a.begun); took != c.want {
					t.Errorf("waited %s, want %s", took, c.want)
				}
				crew.End()
				crew.Wait()
				if took := time.Since(a.begun); took != c.want {
					t.Errorf("ended after %s, want %s", took, c.want)
				}
			})
		})
	}
}
