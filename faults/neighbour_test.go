package faults

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// neighbour is another target in the same controller, with a user who inserts tasks all the time.
type neighbour struct {
	t      *testing.T
	target work.Target

	mu   sync.Mutex
	took []time.Duration // from INSERT to the end of each task
}

// newNeighbour inserts tasks from when the target is served until the test ends.
func newNeighbour(t *testing.T) *neighbour {
	t.Helper()
	s := prepare(t, servertest.Server(t), nil)
	n := &neighbour{t: t, target: s.target}
	dsn := s.server.DSN(s.name)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := n.live(ctx, dsn); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return n
}

func (n *neighbour) live(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		began := time.Now()
		var id int64
		if err := conn.QueryRow(ctx, "INSERT INTO task (input) VALUES ('SELECT 1') RETURNING id").Scan(&id); err != nil {
			return err
		}
		for done := false; !done; pace(ctx, 4*time.Millisecond) {
			if err := conn.QueryRow(ctx, "SELECT state = 'DONE' FROM task WHERE id = $1", id).Scan(&done); err != nil {
				return err
			}
		}
		n.mu.Lock()
		n.took = append(n.took, time.Since(began))
		n.mu.Unlock()
		pace(ctx, 50*time.Millisecond)
	}
}

func pace(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// some tells whether there are enough tasks to check.
func (n *neighbour) some() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.took) >= 3
}

// check checks that the neighbour's tasks ran as if there were no faults elsewhere.
func (n *neighbour) check() {
	n.t.Helper()
	servertest.Wait(n.t, time.Minute, "the neighbour's first tasks", n.some)
	n.mu.Lock()
	defer n.mu.Unlock()
	took := slices.Sorted(slices.Values(n.took[1:])) // the first waits until the table is served
	middle, last := took[len(took)/2], took[len(took)-1]
	n.t.Logf("neighbour: %d tasks, %s in the middle, %s at most", len(took), middle, last)
	// A busy machine delays everybody.
	if middle > servertest.Limit(2*time.Second) || last > servertest.Limit(10*time.Second) {
		n.t.Errorf("the neighbour's tasks took %s in the middle, %s at most", middle, last)
	}
}
