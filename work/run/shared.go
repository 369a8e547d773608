package run

import (
	"sync/atomic"

	"github.com/rs/zerolog"

	"pgtaskd/exec/text"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is what runners work with. It belongs to the leader, who shares it.
type Config struct {
	Target *target.Target
	Live   *atomic.Pointer[target.Live] // its settings, which may change while tasks run
	Leader Leader
	Group  *routine.Group // all goroutines of the target
	Lanes  *lane.Lanes[*Task]
	Pool   *pool.Pool
	Clock  *Clock
	Log    zerolog.Logger
	Blame  func(id int64) // takes note of a task at which a runner has panicked
}

// Shared is what the runners of a target share. Any goroutine may use it.
type Shared struct {
	Config
	Profiles  Profiles
	unwritten atomic.Int64 // bytes of the outcomes that the leader has not written yet

	// The leader sets them.
	Superuser atomic.Bool // the target's role is one
	Bare      atomic.Bool // the table has no column for the transaction of a run
	Foreign   atomic.Bool // there are foreign servers: what writes through them has no transaction id here
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
