//go:build slow

package work

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestAFloodOfNotificationsKeepsNoTaskWaiting: a stranger notifies thousands of times a second on
// the leader's channels. Tasks start and stop as usual, and the leader reads no more often than
// when it is awake.
func TestAFloodOfNotificationsKeepsNoTaskWaiting(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	var statements, sent atomic.Int64
	p.Watch(func(_ int, fromClient bool, kind byte, _ []byte) proxy.Verdict {
		if fromClient && (kind == 'S' || kind == 'Q') {
			statements.Add(1)
		}
		return proxy.Pass
	})
	s := owned(t, func(target *Target) {
		var err error
		if target.Connect, err = remote.Parse(p.DSN(servertest.Server(t).DSN(target.Connect["dbname"]))); err != nil {
			t.Fatal(err)
		}
	})
	s.serve()
	s.settled()
	s.asleep()
	role, waking := s.role(), s.waking()
	ctx, cancel := context.WithCancel(t.Context())
	var floods sync.WaitGroup
	defer floods.Wait()
	defer cancel()
	for _, channel := range []string{waking.Channel, sql.Channel(s.target.Relation()), waking.Channel, sql.Channel(s.target.Relation())} {
		conn := s.connectAs(role)
		floods.Go(func() {
			for ctx.Err() == nil {
				if _, err := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_notify($1, 'rubbish')", channel); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	s.until("a flood", func() bool { return sent.Load() > 1000 })
	for range 3 {
		s.serves()
	}
	running := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(running, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", running)
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", running)

	before, began := statements.Load(), time.Now()
	s.exec("SELECT pg_sleep(3)")
	spent := statements.Load() - before
	if most := int64(time.Since(began).Seconds() * 400); spent > most {
		t.Errorf("%d statements of the leader's", spent)
	}
	t.Log(spent, "statements of the leader's beside", sent.Load(), "notifications")
}
