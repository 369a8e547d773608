package work

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/work/door"
	"pgtaskd/work/target"
)

// TestALoopThatHangsIsOverdue: and one that sleeps is not, nor one that has gone on.
func TestALoopThatHangsIsOverdue(t *testing.T) {
	t.Parallel()
	stats := target.NewStats()
	s := furnished(t, func(to *Target) { to.Stats = stats })
	hang, free := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(free) })
	s.serveWith(func(_ int, l *loop) {
		l.duties = append(l.duties, duty{do: func(context.Context) error {
			select {
			case <-hang:
				<-free
			default:
			}
			return nil
		}})
	})
	t.Cleanup(goOn)
	sleeps := func() bool { return stats.Overdue() < 0 }
	servertest.Wait(t, patient, "a loop that sleeps", sleeps)
	close(hang)
	id := s.add("input", "SELECT 1") // wakes it
	servertest.Wait(t, patient, "a loop that is overdue", func() bool { return stats.Overdue() > time.Second })
	goOn()
	s.becomes(id, "DONE")
	servertest.Wait(t, patient, "a loop that sleeps again", sleeps)
	s.drain()
	if late := stats.Overdue(); late > -time.Hour {
		t.Errorf("without a loop it is overdue since %v", late)
	}
}

// TestALoopThatWaitsIsNotOverdue: for its next try, however far that is.
func TestALoopThatWaitsIsNotOverdue(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&resting{rest: time.Hour}, errors.New("connection refused"), &door.Refused{}} {
		stats := target.NewStats()
		sv := newService(Target{Stats: stats}, zerolog.Nop())
		stats.Moves(0)
		if wait, late := sv.trouble.failed(err), stats.Overdue(); late > 0 || late < -wait {
			t.Errorf("%v: overdue since %v, while it waits %v", err, late, wait)
		}
	}
}
