package work

import (
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// need is what a task asks of its session.
type need struct {
	remote, group string
	epoch         int64 // of the settings of databases and roles
	leader        int32 // pid of the control session that has read the task
	lane          lane.Key
	max, count    int32
	live          time.Duration
}

// seat is a session with what has to be known in order to give it a task. It belongs to one runner, or lies among the idle.
type seat struct {
	session *exec.Session
	remote  string
	epoch   int64 // of the settings of databases and roles when it was opened
	born    time.Time
	idle    time.Time // since when it has no work
	tasks   int       // that have run on it

	// What the first task asks for, if it asks to have the session for its lane: for count tasks, or until it is live old,
	// of at least its max.
	bound bool
	lane  lane.Key
	max   int32
	count int32
	live  time.Duration

	// Of a remote's server: how far the target's clock is ahead of it, and how long it takes to answer.
	ahead, answers time.Duration
	nearest        time.Duration // the least that an answer has taken

	shielded bool // by the row of its last task, which was marked: see spec

	saved lane.Key // of the lane whose state it holds since the last task
	holds bool     // it holds such state
}

// compare takes a reading of the clock of the seat's server, that was asked for between two moments of the target's: the difference is changed by no more than it must
// be wrong.
func (s *seat) compare(reading, asked, answered time.Time) {
	s.answers = min(answered.Sub(asked), answerMost)
	if s.nearest == 0 || s.answers < s.nearest {
		s.nearest = s.answers
	}
	if told := reading.Add(s.ahead); told.Before(asked) {
		s.ahead += asked.Sub(told)
	} else if told.After(answered) {
		s.ahead -= told.Sub(answered)
	}
}

// told is a moment of which the seat's server has told, by the target's clock, where it is near enough to now to be one.
func (s *seat) told(moment, now time.Time) time.Time {
	if s.remote != "" && (moment.Before(now.Add(-stopOdd)) || moment.After(now.Add(stopOdd))) {
		return now
	}
	return moment
}

// answerMost is what is taken for the time of an answer at most, so that tasks are not kept behind one that lasts because a network has stalled before.
const answerMost = time.Second

// bind gives the seat to the lane of its first task, if that asks for it.
func (s *seat) bind(n need) {
	if s.tasks == 0 && (n.count > 0 || n.live > 0) {
		s.bound, s.lane, s.max, s.count, s.live = true, n.lane, n.max, n.count, n.live
	}
}

// fits tells whether the task may run here.
func (s *seat) fits(n need) bool {
	switch {
	case s.remote != n.remote || s.epoch != n.epoch:
		return false
	case s.bound:
		return s.lane == n.lane && n.max >= s.max && !s.spent()
	case n.count > 0 || n.live > 0:
		return s.tasks == 0
	}
	return true
}

// spent tells whether the seat has served as its first task asked.
func (s *seat) spent() bool {
	return s.bound && (s.count > 0 && s.tasks >= int(s.count) || s.live > 0 && time.Since(s.born) >= s.live)
}

// keeps tells whether the state of the session is that of a lane.
func (s *seat) keeps(lane lane.Key) bool { return s.holds && s.saved == lane }

// rank tells how well the seat suits a task that it fits: 3 it is bound to the lane, 2 it holds the lane's state, 1 it holds none, 0 it holds another lane's.
func (s *seat) rank(n need) int {
	switch {
	case s.bound:
		return 3
	case !s.holds:
		return 1
	case s.saved == n.lane:
		return 2
	}
	return 0
}
