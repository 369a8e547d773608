package run

import (
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// A runner sends several tasks at once, as a pipeline (exec/session.go): only queries whose shape
// has been short. If a task takes long after all, the tasks after it are called back and start
// elsewhere.
//
// The runner adds tasks to a pipeline under way, so that the server need not wait for us.
const (
	// pipelineSize is the size of a pipeline in bytes, roughly. Sending must never wait until we
	// read: the server holds 8 kB, and so do the sockets of some systems.
	pipelineSize = 16 << 10
	pipelineOurs = 1700                   // the most bytes that we add to the texts of a task,
	pipelineLess = 700                    // and to those of constants, after which our statements stay prepared
	pipelineLate = 50 * time.Millisecond  // how long a pipelined task may begin after it was sent
	pipelineBack = 100 * time.Millisecond // how much later it is called back: if it began, its answer is here by then
)

// queued is a task that the server has after another.
type queued struct {
	attempt
	spec *exec.Task
}

// pipeline has the tasks of a runner that the server has, in the order of its answers. The leader's
// goroutine may call tasks back; from then on they belong to the lanes.
type pipeline struct {
	shared *Dispatcher

	mu      sync.Mutex
	current *Task     // under way, or just ended
	ahead   []queued  // the tasks after current
	until   time.Time // ahead must begin by then, by the server's clock
}

// count returns how many tasks the server has after the current one.
func (p *pipeline) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ahead)
}

// back gives the tasks that have not begun back to the lanes, and returns those that the lanes do
// not take. The server has skipped them, or (late) they cannot begin any more because the task
// before them takes long.
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

// next removes the runner's next task; false: it was called back.
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

// lose removes all tasks after the current one.
func (p *pipeline) lose() (ahead []queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead, p.ahead = p.ahead, nil
	return ahead
}

// begin returns the tasks to send to the session together with a task: none if that is marked.
func (p *pipeline) begin(a *attempt, session *pool.Session) (then []*exec.Task) {
	if session.Bound || a.needsMark() || a.claims || !p.shared.pipelined(a.task, session) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = a.task
	return p.queue(a.task, session)
}

// extend sends more tasks after those that the server has, once half of these have begun.
func (p *pipeline) extend(t *Task, session *pool.Session) {
	n := session.Behind()
	if n > p.shared.Profiles.depth(t)/2 || t.Marks.Load() || !session.Takes() {
		return
	}
	var then []*exec.Task
	p.mu.Lock()
	if n == len(p.ahead) { // otherwise they were called back
		then = p.queue(t, session)
	}
	p.mu.Unlock()
	if len(then) > 0 {
		session.Extend(then...)
	}
}

// queue takes tasks from the lanes that can follow t and the tasks ahead, as long as their bytes
// fit into the pipeline. The caller holds mu.
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
		one.spec.Until, one.spec.Strict = until.Add(-session.Ahead), false // pipelined has seen to Strict
		p.ahead, p.until = append(p.ahead, one), until
		then, last = append(then, one.spec), next
	}
	return then
}

// pipelined tells whether a task may be part of a pipeline: if it writes after all, it is rolled
// back and runs once more. A task with a pause (max below 0) is never pipelined, nor is one that
// FAILs if its output is too long: it is rolled back.
func (d *Dispatcher) pipelined(t *Task, session *pool.Session) bool {
	if t.Row.Max < 0 || d.Live.Load().OutputFail {
		return false
	}
	if t.Row.Remote != "" {
		query, _ := d.Profiles.asQuery(t)
		return query && !session.Foreign
	}
	return !d.Foreign.Load() && t.light()
}

// size returns roughly how many bytes are sent for a task.
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
