//go:build slow

package work

import (
	"context"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestPanicOfLoop: a task beside which something else panics runs again, but no more than five
// times.
func TestPanicOfLoop(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	looks := s.connect()
	s.serveWith(func(number int, l *loop) {
		l.crew.Go(func() { // as soon as the task runs
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for l.crew.Context().Err() == nil {
				var runs bool
				err := looks.QueryRow(context.WithoutCancel(t.Context()), "SELECT state = 'WORK' AND attempt = $1 FROM task", number).Scan(&runs)
				if err == nil && runs {
					panic("nobody knows why")
				}
				<-tick.C
			}
		})
	})
	bad := s.add("input", "SELECT pg_sleep(8)") // a server before 14 ends it no earlier
	servertest.Wait(t, 2*patient, "FAIL", func() bool { return s.state(bad) == "FAIL" })
	if row := s.row(bad, "sqlstate, attempt, interrupted"); row != `{"sqlstate":"XX000","attempt":5,"interrupted":5}` {
		t.Errorf("the task is %s", row)
	}
	id := s.add("input", "SELECT 1")
	s.becomes(id, "DONE")
}
