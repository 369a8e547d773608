package exec

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pgtaskd/server/proxy"
)

// TestCancelOfARollback: a cancel request of somebody else's that meets our ROLLBACK leaves the
// transaction open, and us to try again.
func TestCancelOfARollback(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	aim := &rollbacks{begun: make(chan struct{}, 1)}
	p.Watch(aim.watch)
	b.open()

	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-aim.begun:
			}
			for aim.underWay() {
				_, _ = b.watch.Exec(t.Context(), "SELECT pg_cancel_backend($1)", int32(b.session.PID))
			}
		}
	}()
	for end := time.Now().Add(30 * time.Second); aim.met() == 0; {
		if time.Now().After(end) {
			t.Fatal("no cancel has met a ROLLBACK")
		}
		task := spec("INSERT INTO ends VALUES (1); SELECT 1/0")
		_, _, err := b.session.Begin(nil, task)
		if refused := new(Failure); errors.As(err, &refused) { // a late one has met what comes before the SQL
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if result, err := b.session.Await(task); err != nil || result.Failure == nil || result.Open {
			t.Fatalf("%+v %v", result, err)
		}
	}
	close(done)
	<-ended
	if rows := b.get("SELECT count(*) FROM ends"); rows != "0" {
		t.Errorf("%s effects", rows)
	}
	for range 2 { // the last cancel may still be on its way to the first
		if result, _ := b.run(spec("SELECT 1"), nil); result.Failure == nil {
			b.end(result)
			return
		}
	}
	t.Error("the session is of no use any more")
}

// rollbacks watches those of a session, and counts those that have failed.
type rollbacks struct {
	begun chan struct{} // one whose predecessor has not failed

	mu      sync.Mutex
	running bool
	failed  bool // the last one
	times   int
}

func (r *rollbacks) watch(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case fromClient && kind == 'Q' && string(body) == "ROLLBACK\x00":
		r.running = true
		if r.failed {
			break
		}
		select {
		case r.begun <- struct{}{}:
		default: // it is known already
		}
	case !fromClient && kind == 'Z' && r.running:
		r.running, r.failed = false, body[0] != 'I'
		if r.failed {
			r.times++
		}
	}
	return proxy.Pass
}

func (r *rollbacks) underWay() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

func (r *rollbacks) met() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}
