package run

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// runnerOf is that of a session, where none can be opened.
func runnerOf(t *testing.T, session *pool.Session) *runner {
	clock := &Clock{}
	r := newRunner(&New(Config{
		Group: routine.New(t.Context()), Pool: pool.New(pool.Config{}), Clock: clock, Log: zerolog.Nop(),
		Failed: func(error) *zerolog.Event { return nil },
		Lanes:  lane.New[*Task](1, time.Second, clock.Now),
	}, Limits{Run: 100}).Shared)
	r.session = session
	return r
}
