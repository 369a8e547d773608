package run

import (
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// A pipeline is what a runner sends at once: a task and those behind it (exec/pipeline.go). Only
// short queries are pipelined, as their like have turned out to be; what is behind one that lasts
// after all is called back, and starts elsewhere.
//
// While it lasts it is added to, so that the session finds the next task there and need not wait
// for us.
const (
	pipelineMost = 22                     // tasks in a pipeline
	pipelineSize = 16 << 10               // bytes of it, roughly: what is sent must never wait for us to read, and some systems' sockets hold no more than 8 kB, as does the server
	pipelineOurs = 1700                   // of them, those that we add to the texts of each task, at most,
	pipelineLess = 700                    // and to those of constants, after which our statements stay prepared
	pipelineTime = 20 * time.Millisecond  // that it is to take, sessions that displace each other on busy cores included;
	orderTime    = 5 * time.Millisecond   // in lanes where several run at once, since by so much the first of another session may begin before the last of this one;
	pipelineLate = 50 * time.Millisecond  // after which none of it begins,
	pipelineBack = 100 * time.Millisecond // and how much later what has not begun is called back: the answer to what has is here by then
)

// queued is a task that is with the server behind another.
type queued struct {
	task *Task
	spec *exec.Task
}

// pipeline is what a runner has with the server. The loop looks at it, too: what that calls back is
// nobody's but the lanes'.
type pipeline struct {
	mu     sync.Mutex
	before *Task // under way, or just over
	behind []queued
	until  time.Time // by the server's clock
}

// Behind is how many tasks are with the server behind others.
func (d *Dispatcher) Behind() (n int) {
	for r := range d.runners.Range {
		p := &r.(*runner).pipeline
		p.mu.Lock()
		n += len(p.behind)
		p.mu.Unlock()
	}
	return n
}

// CallBack gives back to the lanes what will not begin any more because what is before it lasts.
func (d *Dispatcher) CallBack() {
	late := d.Clock.Now().Add(-pipelineBack)
	for r := range d.runners.Range {
		for _, t := range r.(*runner).pipeline.back(d.Lanes, late) {
			d.tell(Outcome{Task: t, Kind: Released})
		}
	}
}

// back gives back to the lanes what was to begin until then. Those that the lanes do not take are
// returned.
func (p *pipeline) back(s *lane.Lanes[*Task], then time.Time) (left []*Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.behind) == 0 || p.until.After(then) {
		return nil
	}
	tasks := make([]*Task, len(p.behind))
	for i, b := range p.behind {
		tasks[i] = b.task
	}
	p.behind = nil
	return s.Back(p.before, tasks)
}

// next takes the runner's next task out; false when it was called back.
func (p *pipeline) next() (next queued, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.behind) == 0 {
		return queued{}, false
	}
	next = p.behind[0]
	p.before, p.behind = next.task, p.behind[1:]
	return next, true
}

// end takes out all that is behind the task under way.
func (p *pipeline) end() (behind []queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	behind, p.behind = p.behind, nil
	return behind
}

// board finds what can be sent behind t, which is about to be sent.
func (r *runner) board(t *Task, spec *exec.Task) (then []*exec.Task) {
	if r.session.Bound || t.watch || spec.Strict || !r.pipelined(t) {
		return nil
	}
	r.pipeline.mu.Lock()
	defer r.pipeline.mu.Unlock()
	r.pipeline.before = t
	return r.queue(t)
}

// extend sends more behind t, which is under way, and those that are with the server behind it,
// once half of them have begun.
func (r *runner) extend(t *Task) {
	n := r.session.Behind()
	if n > r.profiles.depth(t)/2 || t.Marks.Load() || !r.session.Takes() {
		return
	}
	var then []*exec.Task
	r.pipeline.mu.Lock()
	if n == len(r.pipeline.behind) { // else they were called back
		then = r.queue(t)
	}
	r.pipeline.mu.Unlock()
	if len(then) > 0 {
		r.session.Extend(then...)
	}
}

// queue takes tasks from the lanes that can follow on t and those that are sent behind it, as far
// as there is room for their bytes. The mutex of the pipeline is held.
func (r *runner) queue(t *Task) (then []*exec.Task) {
	p, last, room := &r.pipeline, t, pipelineSize-t.size()
	for _, b := range p.behind {
		last, room = b.task, room-b.task.size()
	}
	until := r.Clock.Now().Add(pipelineLate + r.session.Lag)
	for most := r.profiles.depth(t) - 1; len(p.behind) < most; {
		next := r.Lanes.Queue(last, r.crowded(last), func(next *Task) bool {
			return r.session.Fits(next.need()) && (!last.Row.Save || next.Lane == last.Lane) &&
				next.size() <= room && r.pipelined(next) && r.profiles.depth(next) > 1
		})
		if next == nil {
			break
		}
		room -= next.size()
		next.query, next.watch = next.Row.Remote != "", false
		next.Atomic = true
		spec := r.made(next, next.Row.Save && last.Row.Save && next.Lane == last.Lane)
		spec.Until = until.Add(-r.session.Ahead)
		p.behind, p.until = append(p.behind, queued{next, spec}), until
		then, last = append(then, spec), next
	}
	return then
}

// pipelined tells whether a task may be part of a pipeline: should it turn out to write, it is
// rolled back and run once more. Where there is a pause before each none is.
func (r *runner) pipelined(t *Task) bool {
	if t.Row.Remote != "" {
		query, _ := r.asQuery(t)
		return query && t.Row.Max >= 0
	}
	return t.Row.Max >= 0 && !r.Foreign.Load() && t.light() && t.Atomic
}

// asQuery tells whether a remote task runs as one does in the target's own database, in a
// transaction of ours: like others that have been short. It is rolled back if it has written, and
// run once more as it is. So nothing is in doubt when it is cut off, and its row need not show WORK
// before it starts. Or whether it is to show, in such a transaction, what its like are: whatever it
// does is committed then, and it is marked like all that is not exactly once.
func (r *runner) asQuery(t *Task) (query, watch bool) {
	if !t.light() || t.Row.Save || r.session.Foreign {
		return false, false
	}
	known := r.profiles.of(t)
	query = known.within(pipelineTime) > 1
	return query, !query && known.queries >= 0
}

// light tells whether nothing is known of a task by itself why it should be more than a query that
// may be run once more.
func (t *Task) light() bool {
	if t.Row.Input == nil || t.Row.Data == nil || !t.Row.Single || len(t.Row.Settings) > 0 || t.Row.marksFirst() ||
		t.Row.Count > 0 || t.Row.Live > 0 || t.ahead || t.Again > 0 {
		return false
	}
	t.Examine()
	return t.Traits.Atomic() && t.Traits.Pipelines() && (!t.Row.Save || t.Traits.Inert)
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

// land gives back what is behind the task under way and has not begun.
func (r *runner) land() {
	for _, t := range r.pipeline.back(r.Lanes, r.pipeline.until) {
		r.note(Outcome{Task: t, Kind: Released})
	}
}

// strand tells the loop of what is behind a task whose session is given up: it may have begun
// there.
func (r *runner) strand() {
	for _, b := range r.pipeline.end() {
		r.note(Outcome{Task: b.task, Kind: Lost, Aboard: true, PID: int32(r.session.PID), Since: r.session.Since, Stop: r.Clock.Now()})
	}
}
