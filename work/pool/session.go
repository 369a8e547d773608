package pool

import (
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// Need is what a task asks of its session.
type Need struct {
	Wishes
	Remote, Group string
	Reader        int32 // pid of the control session that has read the task
	Lane          lane.Key
	Max           int32
	Once          bool // it must not run twice: a session that lay ready is asked whether it is still there
}

// Wishes are what the row of a task asks of its session.
type Wishes struct {
	Role  Role
	Epoch int64 // of the settings of databases and roles
	Count int32
	Live  time.Duration
}

// Role is that under which a task runs. The zero value is the target's own.
type Role struct {
	Name      string
	Number    int64 // its oid: another role may have its name later
	Superuser bool
}

// Place is what the task asks for that may not be had for a while: a remote, or another role than
// the target's. "": neither.
func (n Need) Place() string {
	if n.Remote == "" && n.Role.Name != "" {
		return "\x00" + n.Role.Name // no remote has such a name
	}
	return n.Remote
}

// Session is a session with what has to be known in order to give it a task. It belongs to one
// runner, or lies in the pool.
type Session struct {
	*exec.Session
	Need  Need // of the task that it was opened for, or that it is bound to
	born  time.Time
	idle  time.Time // since when it has no work
	Tasks int       // that have run on it
	Bound bool      // its first task has it for its lane: for count tasks, or until it is live old, of at least its max

	// Of a remote's server: how far the target's clock is ahead of it, roughly, and how long it takes
	// to answer.
	Ahead, Lag time.Duration

	Shielded bool // by the row of its last task, which was marked: see (*run.runner).ready

	Saved lane.Key // of the lane whose state it holds since the last task
	Holds bool     // it holds state
}

// Compare takes a reading of the clock of the session's server that was asked for between two
// moments of the target's. The difference changes by no more than it must be wrong.
func (s *Session) Compare(reading, asked, answered time.Time) {
	s.Lag = min(answered.Sub(asked), answerMost)
	s.Ahead = min(max(s.Ahead, asked.Sub(reading)), answered.Sub(reading))
}

// answerMost is what is taken for the time of an answer at most, so that tasks do not wait for
// one that lasts because a network has stalled before.
const answerMost = time.Second

// Bind gives the session to the lane of its first task, if that asks for it.
func (s *Session) Bind(n Need) {
	if s.Tasks == 0 && (n.Count > 0 || n.Live > 0) {
		s.Bound, s.Need = true, n
	}
}

// Fits tells whether the task may run here.
func (s *Session) Fits(n Need) bool {
	switch {
	case s.Need.Remote != n.Remote || s.Need.Role != n.Role || s.Need.Epoch != n.Epoch:
		return false
	case s.Bound:
		return s.Need.Lane == n.Lane && n.Max >= s.Need.Max && !s.Spent()
	case n.Count > 0 || n.Live > 0:
		return s.Tasks == 0
	}
	return true
}

// Spent tells whether the session has served as its first task asked, or cannot serve any more.
func (s *Session) Spent() bool {
	count, live := s.Need.Count, s.Need.Live
	return s.Bound && (count > 0 && s.Tasks >= int(count) || live > 0 && time.Since(s.born) >= live)
}

// Keeps tells whether the state of the session is that of a lane.
func (s *Session) Keeps(lane lane.Key) bool { return s.Holds && s.Saved == lane }

// rank tells how well the session suits a task that it fits: 3 it is bound to the lane, 2 it holds
// the lane's state, 1 it holds none, 0 it holds another lane's.
func (s *Session) rank(n Need) int {
	switch {
	case s.Bound:
		return 3
	case !s.Holds:
		return 1
	case s.Saved == n.Lane:
		return 2
	}
	return 0
}
