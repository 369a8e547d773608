package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
)

// runner is the goroutine that runs tasks one after the other on one session, as long as there are
// any that fit; then it leaves the session behind. The loop starts it and awaits it.
type runner struct {
	*Dispatcher // what it shares with the others
	session     *pool.Session
	yields      bool      // a task waits for room that its session does not suit
	at          *Task     // that it is at work for, until its end is known
	late        []Outcome // ends that the loop is to hear of: once the session lies ready, where no task follows
	before      *Outcome  // of the task whose SQL has run and whose transaction is open
	pipeline    pipeline
	over        time.Time // end of the SQL that the one under way was sent behind; zero: none
}

// serve runs t and what follows it.
func (r *runner) serve(ctx context.Context, t *Task) {
	r.runners.Store(r, nil)
	defer r.runners.Delete(r)
	defer r.post()
	r.watched(func() { r.work(ctx, t) })
}

func (r *runner) work(ctx context.Context, t *Task) {
	for t != nil {
		t = r.run(ctx, t)
	}
	if r.session == nil {
		return
	}
	if r.session.Spent() || ctx.Err() != nil {
		r.leave()
		return
	}
	if r.Lanes.IsClosed() {
		r.post() // which may take long, and needs the session
	}
	if !r.session.Holds { // nobody waits for a lock that a task has left in its session
		if err := r.session.Reset(); err != nil {
			r.leave()
			return
		}
	}
	r.Pool.Put(r.session)
	r.session = nil
	r.Freed()
}

// leave ends the session.
func (r *runner) leave() {
	if r.session != nil {
		r.post()
		r.strand()
		r.session.Close()
		r.Pool.Gone(r.session)
		r.session = nil
	}
}

// run brings one task to its end, and returns the next. The end of the task may be pending then.
func (r *runner) run(ctx context.Context, t *Task) (next *Task) {
	r.post()
	r.at = t
	if t.Row.Barred != nil {
		r.note(Outcome{Task: t, Kind: Finished, Stop: r.Clock.Now(), Result: &exec.Result{Failure: t.Row.Barred}})
		return r.another()
	}
	if t.Row.Data == nil && t.sizes == nil && !r.learn(t) {
		return r.another()
	}
	if r.session == nil {
		if r.session = r.sit(ctx, t); r.session == nil {
			return nil
		}
	}
	if r.session.Behind() > 0 {
		return r.goOn(ctx)
	}
	r.joins(t)
	r.over = time.Time{}
	spec, ok := r.spec(t)
	if !ok {
		t.unload(nil)
		return r.another()
	}
	then := r.board(t, spec)
	asked := r.Clock.Now()
	verdict, start, err := r.session.Begin(r.tail(), spec, then...)
	t.unload(spec)
	if err == nil && t.Row.Remote != "" {
		r.session.Compare(start, asked, r.Clock.Now())
	}
	if err != nil {
		t.end()
	} else if r.session.Behind() == 0 {
		r.land()
	}
	r.conclude(verdict, err)
	r.post()
	if errors.Is(err, exec.ErrUnclaimed) {
		r.land()
		r.untaken(t.claim, t.refused, Outcome{
			Task: t, PID: int32(r.session.PID), Since: r.session.Since, Stop: r.Clock.Now(),
		})
		return r.another()
	}
	if failure := new(text.Failure); errors.As(err, &failure) {
		r.land()
		r.note(Outcome{Task: t, Kind: Finished, PID: int32(r.session.PID), Stop: r.Clock.Now(), Fault: failure})
		return r.another()
	}
	if err != nil {
		r.lose(ctx, t, time.Time{}, nil, err)
		return nil
	}
	r.session.Bind(t.need())
	return r.attend(ctx, t, spec, start)
}

// goOn brings the task to its end that is next of those with the server.
func (r *runner) goOn(ctx context.Context) (next *Task) {
	verdict, start, begun, err := r.session.Next()
	switch {
	case err == nil && !begun:
		r.land()
		r.conclude(verdict, nil)
		return r.another()
	case err != nil:
		r.strand()
		r.conclude(verdict, err)
		r.leave()
		return nil
	}
	b, ok := r.pipeline.next()
	r.conclude(verdict, nil)
	if !ok { // called back, though its answer was only late: it is not ours any more
		r.session.Abandon()
		r.leave()
		return nil
	}
	r.post()
	r.at = b.task
	r.joins(b.task)
	r.extend(b.task)
	return r.attend(ctx, b.task, b.spec, start)
}

// attend sees to a task whose SQL is under way.
func (r *runner) attend(ctx context.Context, t *Task, spec *exec.Task, start time.Time) (next *Task) {
	r.session.Tasks++
	began, told := time.Now(), start
	if t.Row.Remote != "" { // which may tell what it likes
		start = r.Clock.Now()
	}
	t.begin(r.session.Session, start)
	r.Lanes.Began(t, start)
	result, err := r.session.Await(spec)
	t.end()
	r.leaves(t)
	if r.over.IsZero() {
		r.over = told
	}
	r.profiles.saw(t, result.Stop.Sub(r.over), result)
	if r.over = result.Stop; result.Stop.IsZero() || t.Row.Remote != "" {
		result.Stop = start.Add(time.Since(began))
	} else {
		r.Clock.heard(result.Stop)
	}
	r.session.Saved, r.session.Holds = t.Lane, t.Row.Save
	r.session.Shielded = r.session.Shielded || t.Marks.Load()
	if r.Ran != nil {
		r.Ran(t)
	}
	if err != nil {
		r.lose(ctx, t, start, result, err)
		return nil
	}
	if r.session.Behind() == 0 {
		r.land()
	}
	return r.judge(t, start, result)
}

// another is the next task that may start and that fits the session.
func (r *runner) another() *Task {
	if r.session == nil || r.session.Spent() {
		return nil
	}
	if slices.ContainsFunc(r.late, func(e Outcome) bool { return e.Heavy }) {
		r.post()
	}
	for _, e := range r.late {
		if e.Kind == Lost || e.Kind == Killed {
			continue
		}
		if next := r.Lanes.Pass(e.Task, e.at(), r.fits); next != nil {
			return next
		}
	}
	return r.Lanes.Start(r.fits)
}
