package run

import (
	"context"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
)

// runner runs tasks on one session, one after the other, as long as tasks fit; then it gives the
// session back. Its fields belong to its goroutine, except that pipeline has a lock of its own.
type runner struct {
	shared   *Dispatcher
	session  *pool.Session
	at       attempt   // the current attempt, until its outcome is noted
	pending  pending   // the task whose SQL has run and whose transaction is open: at, or the one before it
	pipeline pipeline  // the tasks that the server has after the current one
	untold   []Outcome // to tell the leader: once the session is free, if no task follows
	prevStop time.Time // end of the previous task in this pipeline; zero: none
	yields   bool      // it takes no more tasks: a task that needs another session waits for room
}

func newRunner(d *Dispatcher) *runner { return &runner{shared: d, pipeline: pipeline{shared: d}} }

// pending is a run whose SQL has ended. Its COMMIT is sent together with the next task, or alone.
type pending struct {
	attempt
	outcome Outcome
	tail    *exec.Tail // nil: no run is pending
}

// outcome makes an outcome of the current task. start is zero if its SQL has not begun; result may
// be nil.
func (r *runner) outcome(start time.Time, result *exec.Result) Outcome {
	o := Outcome{Task: r.at.task, PID: int32(r.session.PID), Since: r.session.Since, Start: start, Result: result}
	if result == nil {
		o.Stop = r.shared.Clock.Now()
		return o
	}
	o.Stop, o.Heavy = result.Stop, Size(result) > HeavyFrom
	return o
}

// leave ends the session. Tasks of its pipeline are lost, as they may have begun.
func (r *runner) leave() {
	if r.session == nil {
		return
	}
	lost := r.pipeline.lose() // before post: CallBack must not take slots again for a task that has ended
	r.post()
	for _, q := range lost {
		o := r.outcome(time.Time{}, nil)
		o.Task, o.Kind, o.Queued = q.task, Lost, true
		r.note(o)
	}
	r.session.Close()
	r.shared.Pool.Gone(r.session)
	r.session = nil
}

// requeue gives the tasks of the pipeline back to the lanes if the server runs none of them.
func (r *runner) requeue() {
	if r.session.Behind() > 0 {
		return
	}
	for _, t := range r.pipeline.back(false) {
		r.note(Outcome{Task: t, Kind: Released})
	}
}

// flush commits the pending task.
func (r *runner) flush() {
	if r.pending.tail == nil {
		return
	}
	verdict, err := r.session.End(r.pending.tail)
	r.conclude(verdict, err)
	if err != nil {
		r.leave()
	}
}

// conclude notes the outcome of the pending task, if there is one.
func (r *runner) conclude(verdict *exec.Verdict, err error) {
	p := &r.pending
	if p.tail != nil {
		p.concluded(&p.outcome, verdict, err)
		r.note(p.outcome)
		*p = pending{}
	}
}

// settled commits the pending task and tells all outcomes, so that no transaction of ours stays
// open while the current task waits. False: this has lost the session, and the task waits for
// another.
func (r *runner) settled() bool {
	r.flush()
	r.post()
	if r.session == nil {
		r.turnAway(nil)
	}
	return r.session != nil
}

// turnAway ends the current task, which cannot start. Without a failure, the task waits again.
func (r *runner) turnAway(failure *text.Failure) {
	t := r.at.task
	o := Outcome{Task: t, Kind: Released, Fault: failure}
	if failure != nil {
		o.Kind, o.Stop = Finished, r.shared.Clock.Now()
	}
	if t.Marks.Load() && r.session != nil { // the row may show the session
		o.PID, o.Since = int32(r.session.PID), r.session.Since
	}
	r.note(o)
}

// next returns the next attempt of the session, if there is one. It leaves COMMIT of a pending task
// to be sent together with the next task, or sends it alone if no task follows.
func (r *runner) next() attempt {
	switch p := &r.pending; {
	case r.at.task == nil: // its outcome is known
		return r.another()
	case p.tail == nil: // it runs once more
		return r.at
	case !p.outcome.Heavy && !p.task.Marks.Load():
		if next := r.shared.Lanes.Follow(p.task, r.fits); next != nil {
			return attempt{task: next}
		}
	}
	r.flush()
	return r.another()
}

// another returns the next task that may start and that fits the session.
func (r *runner) another() attempt {
	if r.session == nil || r.session.Spent() {
		return attempt{}
	}
	for i := range r.untold {
		o := &r.untold[i]
		if next := r.shared.Lanes.Pass(o.Task, o.at(), r.fits); next != nil {
			return attempt{task: next}
		}
	}
	return attempt{task: r.shared.Lanes.Start(false, r.fits)}
}

// fits tells whether the runner may take the task: its session suits the task, and there are not
// too many instants at work. Runners pass over a task that comes first but needs another session
// for skipMost only: then the runner takes no more tasks, which makes room for that session.
func (r *runner) fits(t *Task) bool {
	s := r.shared
	switch {
	case r.yields || s.Profiles.crowded(t):
		return false
	case r.session.Holds && r.session.Saved != t.Lane && s.Pool.Spare(t.need(), s.Live.Load().Run):
		return false // the session holds another lane's state, and the task can have another session
	case r.session.Fits(t.need()):
		return true
	}
	now := time.Now()
	switch {
	case t.skippedSince.IsZero():
		t.skippedSince = now
	case now.Sub(t.skippedSince) >= skipMost:
		r.yields, t.skippedSince = true, now.Add(skipAgain) // one runner is enough, and the loop may be slow
	}
	return false
}

// skipMost is how long runners may pass over the task that comes first: opening or exchanging a
// session takes some ms. After a runner has made room, they may do so for skipAgain longer.
const (
	skipMost  = 20 * time.Millisecond
	skipAgain = 100 * time.Millisecond
)

// ran carries out what follows from the result of a run. If the task has written, its row is
// prepared before COMMIT. In a pipeline, the server has the COMMIT already.
func (r *runner) ran(start time.Time, result *exec.Result) {
	o := r.outcome(start, result)
	switch r.at.ran(&o, r.session.Reads) {
	case actCommit:
		o.Exactly = r.at.once()
		r.pending = pending{r.at, o, &exec.Tail{Input: *o.Task.Row.Input}}
		if !r.inPipeline() && result.Wrote() && (o.Task.Row.Remote == "" || r.at.exact) {
			r.prepare()
		}
		return
	case actRepeat:
		return
	case actLeave:
		r.leave()
	}
	r.note(o)
	if result.Reason != exec.NotCancelled {
		r.leave() // a cancel may arrive after the run's end, and must not hit another task
	}
}

// prepare prepares the row of the pending task. If the row does not take the preparation, it rolls
// the transaction back.
func (r *runner) prepare() {
	o := &r.pending.outcome
	if o.Xact = o.Task.Xact(); o.Xact != 0 && o.Xact == o.Result.Xact { // prepared before its SQL began
		return
	}
	answer, refused := r.shared.prepare(o.Task, r.session, Preparation{
		PID: o.PID, Since: o.Since, Start: o.Start, Stop: o.Stop, Xact: o.Result.Xact, Exactly: o.Exactly,
		Output: o.Result.Output, Notice: o.Result.Notice,
	})
	if answer == Taken {
		o.Xact, o.Heavy, o.Shed, o.Less = o.Result.Xact, false, true, refused
		o.Result.Notice = nil // the row has the notice and the output now
		if o.Result.Output != nil {
			o.Result.Output = new(string) // says only that there was output
		}
		return
	}
	gone := *o
	r.pending = pending{}
	if r.session.Rollback() != nil {
		r.leave()
	}
	r.untaken(gone, answer, refused)
}

// untaken carries out what follows if the row has not taken its preparation.
func (r *runner) untaken(o Outcome, answer Prepared, refused *text.Failure) {
	if r.at.untaken(&o, answer, refused) == actRepeat {
		return
	}
	if o.Kind == Lost { // the judge needs the end of its backend
		r.leave()
	}
	r.note(o)
}

// lose drops a session that was lost in the middle of a task, and notes the outcome.
func (r *runner) lose(ctx context.Context, start time.Time, result *exec.Result, err error) {
	o := r.outcome(start, result)
	if r.at.lost(&o, err) && r.goesOn(ctx, start) {
		o.Kind = Finished
	}
	if o.Kind == Released && r.session.Tasks == 0 {
		o.Delay = r.shared.Pool.Delay(r.at.task.need()) // as if it could not have been opened
	}
	r.session.Abandon()
	r.leave()
	r.note(o)
}

// restartTime is the longest time for which a server that restarts still accepts connections after
// it has ended a session.
const restartTime = 200 * time.Millisecond

// goesOn tells whether a remote server goes on after it has ended a session of ours: it still
// accepts connections after restartTime, and has not started since the start of the run.
func (r *runner) goesOn(ctx context.Context, start time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(restartTime):
	}
	session, err := r.shared.Pool.Connect(ctx, r.at.task.need())
	if err != nil {
		return false
	}
	defer session.Close()
	started, err := session.ServerStart(ctx)
	return err == nil && started.Add(r.session.Ahead).Before(start)
}
