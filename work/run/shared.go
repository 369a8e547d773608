package run

import (
	"sync/atomic"

	"github.com/rs/zerolog"

	"pgtaskd/exec/text"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Config is what runners work with. It belongs to the leader, who shares it.
type Config struct {
	Schema, Table string
	LongestText   int64 // bytes of an input or of data that is run
	Leader        Leader
	Group         *routine.Group // all goroutines of the target
	Lanes         *lane.Lanes[*Task]
	Pool          *pool.Pool
	Clock         *Clock
	Log           zerolog.Logger
	Failed        func(error) *zerolog.Event     // begins a line of the log about an error
	Shows         func(group string) [][2]string // settings of sessions that run tasks of a group
	Blame         func(id int64)                 // takes note of a task at which a runner has panicked
	Freed         func()                         // wakes the leader: a session is free
	Ran           func(*Task)                    // for tests: called after the SQL of each task; may be nil
}

// Limits are settings that may change while tasks run.
type Limits struct {
	Run         int
	OutputLimit int64
	OutputFail  bool
}

// Server is what runners have to know of the target's server.
type Server struct {
	Superuser bool   // the role is one
	Encoding  string // of the database
}

// Shared is what the runners of a target share. Any goroutine may use it.
type Shared struct {
	Config
	Profiles  Profiles
	unwritten atomic.Int64 // bytes of the outcomes that the leader has not written yet

	// The leader sets them.
	Limits  atomic.Pointer[Limits]
	Server  atomic.Pointer[Server]
	Foreign atomic.Bool // there are foreign servers: what writes through them has no transaction id here
}

// tell tells the leader of an outcome.
func (s *Shared) tell(o Outcome) {
	o.Weight = o.Size()
	s.unwritten.Add(int64(o.Weight))
	s.Leader.Outcome(o)
}

// Wrote counts an outcome out whose end is written.
func (s *Shared) Wrote(o Outcome) { s.unwritten.Add(-int64(o.Weight)) }

// prepare has the row show the transaction in which the run's effects are. The failure tells why
// the table refuses it.
func (s *Shared) prepare(t *Task, p Preparation) (Prepared, *text.Failure) {
	t.xact.Store(p.Xact)
	answer, refused := s.Leader.Prepare(s.Group.Context(), t, p)
	if answer != Taken && answer != Unreachable {
		t.xact.Store(0)
	}
	return answer, refused
}
