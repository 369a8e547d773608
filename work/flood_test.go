package work

import (
	"context"
	"sync"
	"testing"
	"time"

	"pgtaskd/sql"
)

// TestFlood
func TestFlood(t *testing.T) {
	t.Parallel()
	s := owned(t)
	s.serve()
	s.settled()
	s.asleep()
	role := s.role()
	ctx, cancel := context.WithCancel(t.Context())
	var floods sync.WaitGroup
	for _, channel := range []string{s.waking().Channel, sql.Channel(table(s.target))} {
		conn := s.connectAs(role)
		floods.Go(func() {
			for ctx.Err() == nil {
				if _, err := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_notify($1, i || repeat('x', 1000)) FROM generate_series(1, 100) AS i", channel); err != nil {
					t.Error(err)
				}
				pace(ctx, 10*time.Millisecond)
			}
		})
	}
	x := func() string { return s.get("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()") }
	t.Log(x())
	for range 10 {
		began := time.Now()
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		t.Log(time.Since(began))
		time.Sleep(400 * time.Millisecond)
	}
	t.Log(x())
	cancel()
	floods.Wait()
}

func pace(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
