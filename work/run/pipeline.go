package run

import (
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// A pipeline is what a runner sends at once: a task and those after it (exec/session.go). Only
// queries are pipelined whose like have been short. If one lasts after all, the tasks after it are
// called back, and start elsewhere.
//
// The runner adds tasks to a pipeline under way, so that the server finds the next task and need
// not wait for us.
const (
	pipelineSize = 16 << 10               // bytes of it, roughly: what is sent must never wait for us to read, and some systems' sockets hold no more than 8 kB, as does the server
	pipelineOurs = 1700                   // of them, those that we add to the texts of each task, at most,
	pipelineLess = 700                    // and to those of constants, after which our statements stay prepared
	pipelineLate = 50 * time.Millisecond  // after which none of it begins,
	pipelineBack = 100 * time.Millisecond // and how much later what has not begun is called back: the answer to what has is here by then
)

// queued is a task that is with the server after another.
type queued struct {
	attempt
	spec *exec.Task
}

// pipeline is what a runner has with the server, in the order in which it is answered. The leader
// looks at it, too: what that calls back is nobody's but the lanes'.
type pipeline struct {
	shared *Dispatcher

	mu      sync.Mutex
	current *Task // under way, or just over
	ahead   []queued
	until   time.Time // by the server's clock
}

// count is how many tasks are with the server after others.
func (p *pipeline) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ahead)
}

// back gives the tasks that have not begun back to the lanes: the server has skipped them, or
// (late) they begin no more because the task before them lasts. It returns those that the lanes do
// not take.
func (p *pipeline) back(late bool) (left []*Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ahead) == 0 || late && p.until.After(p.shared.Clock.Now().Add(-pipelineBack)) {
		return nil
	}
	tasks := make([]*Task, len(p.ahead))
	for i := range p.ahead {
		tasks[i] = p.ahead[i].task
	}
	p.ahead = nil
	return p.shared.Lanes.Rejoin(tasks, &p.current.Ticket)
}

// next takes the runner's next task out; false when it was called back.
func (p *pipeline) next() (next queued, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ahead) == 0 {
		return queued{}, false
	}
	next = p.ahead[0]
	p.current, p.ahead = next.task, p.ahead[1:]
	return next, true
}

// lose takes out all that is with the server after the task under way.
func (p *pipeline) lose() (ahead []queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead, p.ahead = p.ahead, nil
	return ahead
}

// begin finds what can be sent after a task that is about to be sent to the session: nothing after
// one that is marked.
func (p *pipeline) begin(a *attempt, spec *exec.Task, session *pool.Session) (then []*exec.Task) {
	if session.Bound || a.needsMark() || a.claims || spec.Strict || !p.shared.pipelined(a.task, session) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = a.task
	return p.queue(a.task, session)
}

// extend sends more after a task that is under way, and those that are with the server after it,
// once half of them have begun.
func (p *pipeline) extend(t *Task, session *pool.Session) {
	n := session.Behind()
	if n > p.shared.Profiles.depth(t)/2 || t.Marks.Load() || !session.Takes() {
		return
	}
	var then []*exec.Task
	p.mu.Lock()
	if n == len(p.ahead) { // else they were called back
		then = p.queue(t, session)
	}
	p.mu.Unlock()
	if len(then) > 0 {
		session.Extend(then...)
	}
}

// queue takes tasks from the lanes that can follow on t and those that are sent after it, as far as
// there is room for their bytes; mu is held.
func (p *pipeline) queue(t *Task, session *pool.Session) (then []*exec.Task) {
	profiles, last, room := &p.shared.Profiles, t, pipelineSize-t.size()
	for i := range p.ahead {
		last, room = p.ahead[i].task, room-p.ahead[i].task.size()
	}
	until := p.shared.Clock.Now().Add(pipelineLate + session.Lag)
	for most := profiles.depth(t) - 1; len(p.ahead) < most; {
		next := p.shared.Lanes.Queue(last, profiles.crowded(last), func(next *Task) bool {
			return session.Fits(next.need()) && (!last.Row.How.Save || next.Lane == last.Lane) &&
				next.size() <= room && p.shared.pipelined(next, session) && profiles.depth(next) > 1
		})
		if next == nil {
			break
		}
		room -= next.size()
		one := queued{attempt: attempt{task: next, atomic: true, query: next.Row.Remote != ""}}
		one.spec = p.shared.spec(&one.attempt, next.Row.How.Save && last.Row.How.Save && next.Lane == last.Lane)
		one.spec.Until = until.Add(-session.Ahead)
		p.ahead, p.until = append(p.ahead, one), until
		then, last = append(then, one.spec), next
	}
	return then
}

// pipelined tells whether a task may be part of a pipeline: should it turn out to write, it is
// rolled back and run once more. A task of a lane with pauses (max below 0) never is.
func (d *Dispatcher) pipelined(t *Task, session *pool.Session) bool {
	if t.Row.Max < 0 {
		return false
	}
	if t.Row.Remote != "" {
		query, _ := d.Profiles.asQuery(t)
		return query && !session.Foreign
	}
	return !d.Foreign.Load() && t.light()
}

// size is how many bytes are sent for a task, roughly.
func (t *Task) size() int {
	if t.Row.Input == nil || t.Row.Data == nil {
		return pipelineSize + 1
	}
	t.Examine()
	ours := pipelineOurs
	if t.Traits.Inert {
		ours = pipelineLess
	}
	return ours + len(*t.Row.Input) + len(*t.Row.Data) + len(t.Row.Group)
}
