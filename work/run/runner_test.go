package run

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// runnerOf returns the runner of a session; no other session can be opened.
func runnerOf(t *testing.T, session *pool.Session) *runner {
	clock, live := &Clock{}, &atomic.Pointer[target.Live]{}
	live.Store(&target.Live{Run: 100})
	r := newRunner(New(Config{
		Live: live, Group: routine.New(t.Context()), Pool: pool.New(pool.Config{}), Clock: clock, Log: zerolog.Nop(),
		Lanes: lane.New[*Task](1, time.Second, clock.Now),
	}))
	r.session = session
	return r
}
