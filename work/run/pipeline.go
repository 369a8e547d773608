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

// pipelines are the tasks behind those under way. Runners and the loop share them: what is called
// back is nobody's but the lanes'.
type pipelines struct {
	mu  sync.Mutex
	all map[*runner]*pipeline
}

type pipeline struct {
	before *Task // under way, or just over
	behind []queued
	until  time.Time // by the server's clock
	held   bool      // it is being added to
}

// Behind is how many tasks are with the server behind others.
func (d *Dispatcher) Behind() (n int) {
	d.pipelines.mu.Lock()
	defer d.pipelines.mu.Unlock()
	for _, pipeline := range d.pipelines.all {
		n += len(pipeline.behind)
	}
	return n
}

// hold keeps what the runner has behind its task, n others, from being called back until add; false
// when that has happened.
func (f *pipelines) hold(r *runner, n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	pipeline := f.all[r]
	if pipeline == nil || n != len(pipeline.behind) {
		return n == 0
	}
	pipeline.held = true
	return true
}

// add takes down what the runner is about to send behind t, and behind what is with the server
// after that.
func (f *pipelines) add(r *runner, t *Task, behind []queued, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[r] == nil {
		if len(behind) == 0 {
			return
		}
		f.all[r] = &pipeline{before: t}
	}
	all := f.all[r]
	all.held = false
	if len(behind) > 0 {
		all.behind, all.until = append(all.behind, behind...), until
	}
}

// last is the last of the tasks that the runner has with the server, of which t is under way, and
// how many bytes they take up together.
func (f *pipelines) last(r *runner, t *Task) (last *Task, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, size = t, t.size()
	if pipeline := f.all[r]; pipeline != nil {
		for _, b := range pipeline.behind {
			last, size = b.task, size+b.task.size()
		}
	}
	return last, size
}

// next takes the runner's next task out; false when it was called back.
func (f *pipelines) next(r *runner) (next queued, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pipeline := f.all[r]
	if pipeline == nil {
		return queued{}, false
	}
	next = pipeline.behind[0]
	pipeline.before, pipeline.behind = next.task, pipeline.behind[1:]
	if len(pipeline.behind) == 0 {
		delete(f.all, r)
	}
	return next, true
}

// end takes all out that the runner has behind the task under way.
func (f *pipelines) end(r *runner) (behind []queued) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pipeline := f.all[r]; pipeline != nil {
		behind = pipeline.behind
		delete(f.all, r)
	}
	return behind
}

// land gives back to the lanes what the runner has behind the task under way, of which it is
// certain that it has not begun and will not. Those that the lanes do not take are returned.
func (f *pipelines) land(r *runner, s *lane.Lanes[*Task]) (left []*Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.back(r, s)
}

// overdue gives back to the lanes what will not begin any more because what is before it lasts.
func (f *pipelines) overdue(now time.Time, s *lane.Lanes[*Task]) (left []*Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r, pipeline := range f.all {
		if !pipeline.held && now.Sub(pipeline.until) >= pipelineBack {
			left = append(left, f.back(r, s)...)
		}
	}
	return left
}

func (f *pipelines) back(r *runner, s *lane.Lanes[*Task]) (left []*Task) {
	pipeline := f.all[r]
	if pipeline == nil {
		return nil
	}
	delete(f.all, r)
	tasks := make([]*Task, len(pipeline.behind))
	for i, b := range pipeline.behind {
		tasks[i] = b.task
	}
	return s.Back(pipeline.before, tasks)
}

// board finds what can be sent behind t, which is about to be sent.
func (r *runner) board(t *Task, spec *exec.Task) (behind []queued, until time.Time) {
	if r.session.Bound || t.watch || spec.Strict || !r.pipelined(t) {
		return nil, until
	}
	return r.queue(t, r.profiles.depth(t)-1, pipelineSize-t.size())
}

// extend sends more behind t, which is under way, and those that are with the server behind it,
// once half of them have begun.
func (r *runner) extend(t *Task) {
	session := r.session
	n := session.Behind()
	most := r.profiles.depth(t)
	if n > most/2 || t.Marks.Load() || !session.Takes() || !r.pipelines.hold(r, n) {
		return
	}
	last, size := r.pipelines.last(r, t)
	behind, until := r.queue(last, most-1-n, pipelineSize-size)
	r.pipelines.add(r, t, behind, until)
	if len(behind) > 0 {
		session.Extend(specs(behind)...)
	}
	r.callBack()
}

// queue takes up to most tasks from the lanes that can follow on the last of those that are sent,
// or about to be, as far as there is room for their bytes.
func (r *runner) queue(last *Task, most, room int) (behind []queued, until time.Time) {
	until = r.Clock.Now().Add(pipelineLate + r.session.Lag)
	for before := last; len(behind) < most; {
		next := r.Lanes.Queue(before, r.crowded(before), func(next *Task) bool {
			return r.session.Fits(next.need()) && (!before.Row.Save || next.Lane == before.Lane) &&
				next.size() <= room && r.pipelined(next) && r.profiles.depth(next) > 1
		})
		if next == nil {
			break
		}
		room -= next.size()
		next.query, next.watch = next.Row.Remote != "", false
		next.Atomic = true
		spec := r.made(next, next.Row.Save && before.Row.Save && next.Lane == before.Lane)
		spec.Until = until.Add(-r.session.Ahead)
		behind = append(behind, queued{next, spec})
		before = next
	}
	return behind, until
}

func specs(behind []queued) []*exec.Task {
	all := make([]*exec.Task, len(behind))
	for i, b := range behind {
		all[i] = b.spec
	}
	return all
}

// pipelined tells whether a task may be part of a pipeline: should it turn out to write, it is
// rolled back and run once more. Where there is a pause before each none is.
func (r *runner) pipelined(t *Task) bool {
	if t.Row.Remote != "" {
		if t.Row.Max < 0 || !t.light() || r.profiles.depth(t) == 1 {
			return false
		}
		query, _ := r.asQuery(t)
		return query
	}
	return t.Row.Max >= 0 && !r.Foreign.Load() && t.light() && t.Atomic
}

// asQuery tells whether a remote task runs as one does in the target's own database, in a
// transaction of ours: like others that have been short. It is rolled back if it has written, and
// run once more as it is. So nothing is in doubt when it is cut off, and its row need not show WORK
// before it starts. Or whether it is to show, in such a transaction, what its like are: whatever it
// does is committed then, and it is marked like all that is not exactly once.
func (r *runner) asQuery(t *Task) (query, watch bool) {
	if !t.light() || t.Row.Save || r.profiles.writes(t) || r.session.Foreign {
		return false, false
	}
	query = r.profiles.short(t)
	return query, !query
}

// light tells whether nothing is known of a task by itself why it should be more than a query that
// may be run once more.
func (t *Task) light() bool {
	if t.Row.Input == nil || t.Row.Data == nil || !t.Row.Single || len(t.Row.Settings) > 0 || t.Row.marksFirst() ||
		t.Row.Count > 0 || t.Row.Live > 0 || t.lone || t.ahead || t.Again > 0 {
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
	for _, t := range r.pipelines.land(r, r.Lanes) {
		r.note(Outcome{Task: t, Kind: Released})
	}
}

// strand tells the loop of what is behind a task whose session is given up: it may have begun
// there.
func (r *runner) strand() {
	for _, b := range r.pipelines.end(r) {
		r.note(Outcome{Task: b.task, Kind: Lost, Aboard: true, PID: int32(r.session.PID), Since: r.session.Since, Stop: r.Clock.Now()})
	}
}

// callBack gives back what is behind tasks that last. Runners do so as well, as the loop may have
// to wait for the server.
func (r *runner) callBack() {
	for _, t := range r.pipelines.overdue(r.Clock.Now(), r.Lanes) {
		r.note(Outcome{Task: t, Kind: Released})
	}
}
