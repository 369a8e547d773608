package after

import (
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// mostKnown is how many newcomers are known, and how many tasks that are waited for. Scans and surveys
// find the others later.
const mostKnown = 1_000_000

// Successors are the tasks that wait for others, as far as they are known.
type Successors struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Ready   func() int                                      // how many tasks are known to be due
	Free    func(group, remote []byte, successor lane.Rank) // called for one that is due and waits no more
	Want    func()                                          // called when one waits no more that may become due
	Ended   func([]change.Changed)                          // called with those that were given up

	newcomers map[int64]bool // nobody has looked at what they wait for
	awaited   map[int64]bool // what others wait for; true: it has ended, and is in ended
	ended     []int64        // in this order; their successors are still to be looked at
	surveys   surveys
	served    time.Time // when successors of tasks that have ended were looked at last
}

// Clear forgets all: a term begins, or has ended. It comes before anything else.
func (s *Successors) Clear() {
	s.newcomers, s.awaited, s.ended = map[int64]bool{}, map[int64]bool{}, nil
	s.surveys, s.served = surveys{}, time.Time{}
}

// Add takes note of a successor that is new, or whose after was changed: what it waits for is to be
// found out.
func (s *Successors) Add(id int64) {
	if len(s.newcomers) < mostKnown {
		s.newcomers[id] = true
	}
}

// Over takes note that a task has ended, or may have.
func (s *Successors) Over(id int64) {
	if _, known := s.awaited[id]; known {
		s.enqueue(id)
	}
}

// EndedAs takes note of the state in which a task has ended. If it has not ended well, tasks that name
// it and wait for another one need not go on waiting.
func (s *Successors) EndedAs(id int64, state string) {
	v, ill := &s.surveys, state == "FAIL" || state == "GONE" || state == "STOP"
	if ill && len(s.awaited) > 0 && len(v.ill) < illMost {
		v.ill, v.wanted = append(v.ill, id), true
	}
}

// Doubt takes note that something may have ended, or wait for something else, without our doing.
func (s *Successors) Doubt() { s.surveys.wanted = s.surveys.wanted || len(s.awaited) > 0 }

// await takes note that somebody waits for a task, which is still to end.
func (s *Successors) await(id int64) {
	if _, known := s.awaited[id]; known || len(s.awaited) < mostKnown {
		s.awaited[id] = false
	}
}

// enqueue takes note that a task which is waited for has ended.
func (s *Successors) enqueue(id int64) {
	if !s.awaited[id] {
		s.awaited[id], s.ended = true, append(s.ended, id)
	}
}
