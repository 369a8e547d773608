package lead

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// candidate returns a Lead with a control session of this role.
func candidate(t *testing.T, dsn, role string) *Lead {
	t.Helper()
	settings, err := remote.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	of := target.Target{Connect: settings.With(remote.Settings{"user": role}), Schema: "public", Table: "task"}
	c := control.New(of, nil)
	if err := c.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &Lead{Control: c, Target: of, Log: target.NewLog(zerolog.Nop(), nil)}
}

// TestNeverTwoLeaders: there is never more than one leader among eight candidates of two roles,
// however often the lead changes.
func TestNeverTwoLeaders(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	other := "l_" + conn.Config().Database
	servertest.Exec(t, conn, "CREATE ROLE "+other+" LOGIN")
	t.Cleanup(func() {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), "DROP ROLE "+other); err != nil {
			t.Error(err)
		}
	})
	var candidates sync.WaitGroup
	var leaders, terms atomic.Int64
	const enough = 300
	end := time.Now().Add(10 * time.Second)
	for i := range 8 {
		l := candidate(t, dsn, []string{"postgres", other}[i%2])
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

// oneTerm leads for a moment, if it gets the lead.
func (l *Lead) oneTerm(ctx context.Context, leaders, terms *atomic.Int64) error {
	if rand.IntN(2) == 0 {
		l.looked = time.Time{}
	}
	leads, err := l.Elect(ctx)
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
	return l.Release(ctx)
}

// TestWhoLeadsFarMoreGivesUp: if another that stands by leads far fewer, wherever on the server.
func TestWhoLeadsFarMoreGivesUp(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	name := servertest.Connect(t, dsn).Config().Database
	leads := func(controller, table string, want bool) *Lead {
		t.Helper()
		l := candidate(t, dsn, "postgres")
		l.Controller, l.Target.Table = controller+name, table
		if is, err := l.Elect(t.Context()); err != nil || is != want {
			t.Fatal(is, err)
		}
		if want {
			l.Leads(true)
		}
		return l
	}
	far := func(l *Lead, want bool) {
		t.Helper()
		l.balance().next = time.Time{}
		if more, err := l.LeadsFarMore(t.Context()); err != nil || more != want {
			t.Error(more, err)
		}
		if l.NextLook() <= 0 {
			t.Error("it looks again and again")
		}
	}
	first := leads("a", "first", true)
	leads("a", "second", true)
	far(first, false) // nobody stands by
	leads("b", "first", false)
	far(first, true)
	leads("b", "third", true)
	far(first, false)
	leads("c", "second", false) // leads nothing, but does not stand by for the first
	far(first, false)
	leads("c", "first", false)
	far(first, true)
}
