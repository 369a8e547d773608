package after

import (
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// Config is what Successors work with.
type Config struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Ready   func() int                                      // how many tasks are known to be due
	Free    func(group, remote []byte, successor lane.Rank) // called for one that is due and waits no more
	Want    func()                                          // called when one waits no more that may become due
	Ended   func([]change.Changed)                          // called with those that were given up
}

// Successors are the tasks that wait for others, as far as they are known.
type Successors struct {
	Config
	statements statements

	awaited   awaited
	newcomers newcomers
	surveys   surveys
	served    time.Time // when successors of tasks that have ended were looked at last
}

// New returns one that knows nothing.
func New(c Config) *Successors {
	s := &Successors{Config: c, statements: statements{control: c.Control, changes: c.Changes}}
	s.Clear()
	return s
}

// Clear forgets all: a term begins, or has ended.
func (s *Successors) Clear() {
	s.awaited, s.newcomers = awaited{all: map[int64]bool{}}, newcomers{known: map[int64]bool{}}
	s.surveys, s.served = surveys{}, time.Time{}
}

// Add takes note of a successor of which it is still to be found out what it waits for: a new one, or
// one whose after was changed.
func (s *Successors) Add(id int64) { s.newcomers.add(id) }

// Over takes note that a task has ended, or may have.
func (s *Successors) Over(id int64) {
	if s.awaited.has(id) {
		s.awaited.ends(id)
	}
}

// EndedAs takes note of the state in which a task has ended. Where it has not ended well, those that
// name it and wait for another one need not go on waiting.
func (s *Successors) EndedAs(id int64, state string) {
	if s.awaited.any() && (state == "FAIL" || state == "GONE" || state == "STOP") {
		s.surveys.seek(id)
	}
}

// Doubt takes note that something may have ended, or wait for something else, without our doing.
func (s *Successors) Doubt() { s.surveys.wanted = s.surveys.wanted || s.awaited.any() }
