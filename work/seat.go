package work

import (
	"slices"
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

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
func (s *seat) bind(t *task) {
	if s.tasks == 0 && (t.row.Count > 0 || t.row.Live > 0) {
		s.bound, s.lane, s.max, s.count, s.live = true, t.Lane, t.row.Max, t.row.Count, t.row.Live
	}
}

// fits tells whether the task may run here.
func (s *seat) fits(t *task) bool {
	switch {
	case s.remote != t.row.Remote || s.epoch != t.row.Epoch:
		return false
	case s.bound:
		return s.lane == t.Lane && t.row.Max >= s.max && !s.spent()
	case t.row.Count > 0 || t.row.Live > 0:
		return s.tasks == 0
	}
	return true
}

// spent tells whether the seat has served as its first task asked.
func (s *seat) spent() bool {
	return s.bound && (s.count > 0 && s.tasks >= int(s.count) || s.live > 0 && time.Since(s.born) >= s.live)
}

// keeps tells whether the state of the session is that which a task with save is to find.
func (s *seat) keeps(t *task) bool { return t.row.Save && s.holds && s.saved == t.Lane }

// rank tells how well the seat suits a task that it fits: 3 it is bound to the lane, 2 it holds the lane's state, 1 it holds none, 0 it holds another lane's.
func (s *seat) rank(t *task) int {
	switch {
	case s.bound:
		return 3
	case !s.holds:
		return 1
	case s.saved == t.Lane:
		return 2
	}
	return 0
}

// seats are the sessions without work, the one that was used last at the end. Any goroutine may use them.
type seats struct {
	mu   sync.Mutex
	free []*seat
	all  int                 // with those at work
	pids map[int32]time.Time // of all in the target's own database, and the scribe's; with their starts

	ended []backend // that are to be taken out of the register
}

// opened takes down the backend of a new session. A remote's is none of ours: it may name any.
func (p *seats) opened(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.remote == "" {
		p.pids[int32(s.session.PID)] = s.session.Since
	}
}

// joins takes down a backend of ours.
func (p *seats) joins(b backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids[b.pid] = b.since
}

// leaves takes out a backend that has ended, unless another one has its process id by now.
func (p *seats) leaves(b backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left(b)
}

// endedMost is how many backends are remembered that are to be taken out of the register. Beyond
// that a look at the whole register finds them.
const endedMost = 10_000

func (p *seats) left(b backend) {
	if p.pids[b.pid].Equal(b.since) {
		delete(p.pids, b.pid)
	}
	if len(p.ended) < endedMost {
		p.ended = append(p.ended, b)
	}
}

// takeEnded are the backends that have ended since the last call.
func (p *seats) takeEnded() []backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := p.ended
	p.ended = nil
	return ended
}

// ours are the backends of our sessions.
func (p *seats) ours() []backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]backend, 0, len(p.pids))
	for pid, since := range p.pids {
		all = append(all, backend{pid, since})
	}
	return all
}

// backends are those of our sessions in the target's own database.
func (p *seats) backends() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := make([]int32, 0, len(p.pids))
	for pid := range p.pids {
		pids = append(pids, pid)
	}
	return pids
}

// pick takes the free seat that suits the task best: one with its lane's state, else a common one that was used last. One that holds another lane's state is
// taken only where there are as many sessions as there may be. nil: none.
func (p *seats) pick(t *task, most int) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, rank := -1, 0
	for i, s := range p.free {
		if r := s.rank(t); r >= rank && s.fits(t) && (r > 0 || p.all >= most) {
			best, rank = i, r
		}
	}
	if best < 0 {
		return nil
	}
	s := p.free[best]
	p.free = slices.Delete(p.free, best, best+1)
	return s
}

// fits tells whether there is a free seat that suits the task.
func (p *seats) fits(t *task) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.free, func(s *seat) bool { return s.fits(t) })
}

// spare tells whether the task can have a session that holds no other lane's state: a free one, or a new one.
func (p *seats) spare(t *task, most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all < most || slices.ContainsFunc(p.free, func(s *seat) bool { return !s.bound && s.rank(t) > 0 })
}

// count is how many sessions there are, with those at work.
func (p *seats) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// empty tells whether no session lies ready.
func (p *seats) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) == 0
}

// room makes place for one more session: when there are as many as there may be, one without work is taken out, to be closed; one that is
// bound to a lane, or holds its state, only if there is no other.
func (p *seats) room(most int) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	if p.all <= most || len(p.free) == 0 {
		return nil
	}
	i := max(slices.IndexFunc(p.free, func(s *seat) bool { return !s.bound && !s.holds }), 0)
	s := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.out(s)
	return s
}

// gone counts a session out that has ended, or (nil) could not be opened.
func (p *seats) gone(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out(s)
}

func (p *seats) out(s *seat) {
	p.all--
	if s != nil && s.remote == "" {
		p.left(backend{int32(s.session.PID), s.session.Since})
	}
}

func (p *seats) put(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.idle = time.Now()
	p.free = append(p.free, s)
}

// stale takes out the seats that nobody needs any more, to be closed: idle for too long, or used up.
func (p *seats) stale(idle time.Duration) (old []*seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.DeleteFunc(p.free, func(s *seat) bool {
		out := time.Since(s.idle) >= idle || s.spent()
		if out {
			old = append(old, s)
			p.out(s)
		}
		return out
	})
	return old
}

// close ends sessions; it waits for none of them longer than a second.
func closeSeats(old []*seat) {
	for _, s := range old {
		if s != nil {
			s.session.Close()
		}
	}
}
