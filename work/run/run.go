package run

import (
	"context"
	"errors"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
)

// serve runs t, and then other tasks on the same session. A panic is blamed on the current task; it
// goes on, and ends the term.
func (r *runner) serve(ctx context.Context, t *Task) {
	defer r.post()
	whole := false
	defer func() {
		if whole {
			return
		}
		if r.at.task != nil {
			r.shared.Blame(r.at.task.Row.ID)
		}
		if r.session != nil {
			r.session.Abandon()
			r.session.Close()
		}
	}()
	r.work(ctx, attempt{task: t})
	whole = true
}

func (r *runner) work(ctx context.Context, a attempt) {
	for a.task != nil {
		r.post()
		r.at = a
		r.run(ctx)
		for r.inPipeline() {
			r.runPipelined(ctx)
		}
		a = r.next()
	}
	r.flush() // a task that was to follow was turned away
	if r.session == nil {
		return
	}
	if r.shared.Lanes.Slots.IsClosed() {
		r.post() // it may wait for long, and needs the session
	}
	// Reset releases locks that a task has left in the session, so that nobody waits for them.
	if r.session.Spent() || ctx.Err() != nil || !r.session.Holds && r.session.Reset() != nil {
		r.leave()
		return
	}
	r.shared.Pool.Put(r.session)
	r.session = nil
	r.shared.Leader.Wake()
}

// run runs the current task. After it the task is pending, or its outcome is noted, or it is still
// at and must run once more.
func (r *runner) run(ctx context.Context) {
	a, t, s := &r.at, r.at.task, r.shared
	if t.Row.RoleFailure != nil {
		r.turnAway(t.Row.RoleFailure)
		return
	}
	if t.Row.Data == nil && t.sizes == nil && !r.learn() {
		return
	}
	if r.session == nil {
		var instead Outcome
		if r.session, instead = s.take(ctx, t); r.session == nil {
			r.note(instead)
			return
		}
	}
	s.Profiles.joins(t)
	r.prevStop = time.Time{}
	if !r.ready() {
		t.unload(nil)
		return
	}
	spec := r.spec()
	then := r.pipeline.begin(a, r.session)
	asked := s.Clock.Now()
	verdict, start, err := r.session.Begin(r.pending.tail, spec, then...)
	t.unload(spec)
	if err == nil && t.Row.Remote != "" {
		r.session.Compare(start, asked, s.Clock.Now())
	}
	if err == nil {
		r.requeue()
	}
	r.conclude(verdict, err)
	r.post()
	if err != nil {
		r.unbegun(ctx, err)
		return
	}
	r.session.Bind(t.need())
	r.attend(ctx, spec, start)
}

// learn asks for the names of a task that has long texts; false: this already gave its outcome.
func (r *runner) learn() bool {
	t := r.at.task
	r.flush() // no transaction of ours stays open while we wait
	r.post()
	told := r.text(LongNames)
	if told.Sizes != nil {
		told.Refused = tooLong(told.Sizes, r.shared.Target.LongestText())
		t.TooLong = told.Refused != nil
	}
	if !told.OK || told.Refused != nil {
		r.turnAway(told.Refused)
		return false
	}
	t.sizes = told.Sizes
	t.Row.Group, t.Row.Remote, t.Row.How.Format.Null = *t.sizes.Names[0], *t.sizes.Names[1], *t.sizes.Names[2]
	t.sizes.Names = [3]*string{}
	return true
}

// text asks the leader for a text of the task.
func (r *runner) text(which Text) Answer {
	pid := int32(0)
	if r.session != nil {
		pid = int32(r.session.PID)
	}
	return r.shared.Leader.Text(r.shared.Group.Context(), r.at.task, pid, which)
}

// ready prepares the task for its session; false: it must not start. A task that is not exactly
// once is marked first. If the last task of the session was marked, this one starts only after the
// server has said that we still lead: a new leader spares the session of a marked task, and so
// would spare this task, too.
func (r *runner) ready() bool {
	a, t, s := &r.at, r.at.task, r.shared
	ctx := s.Group.Context()
	if t.Row.Data == nil {
		if !r.settled() {
			return false
		}
		if refused, ok := t.load(ctx, r.text); !ok {
			r.turnAway(refused)
			return false
		}
	}
	if a.decide(s, r.session) {
		if !r.settled() {
			return false
		}
		if unreached := s.exact(ctx, a, r.session); unreached != nil {
			r.note(*unreached)
			return false
		}
	}
	if s.Lanes.Slots.IsClosed() {
		r.turnAway(nil)
		return false
	}
	marks, shielded := a.needsMark(), r.session.Shielded && t.Row.Remote == ""
	if (marks || shielded) && !r.settled() {
		return false
	}
	if marks {
		answer := s.Leader.Mark(ctx, t, Marking{PID: int32(r.session.PID), Exactly: a.once(), Guarded: a.guarded()})
		if answer.Refused != nil {
			r.note(Outcome{Task: t, Stop: s.Clock.Now(), Fault: answer.Refused})
			return false
		}
		if !answer.OK {
			r.note(Outcome{Task: t, Kind: Refused, Stop: s.Clock.Now()})
			return false
		}
	} else if shielded && !s.Leader.Leads(ctx) {
		r.turnAway(nil)
		return false
	}
	r.session.Shielded = false
	return true
}

// spec returns the task in the form that its session needs. If a task locks its own row, or the
// task table, its row is prepared before its SQL begins, and the SQL runs in that transaction.
func (r *runner) spec() *exec.Task {
	a, t := &r.at, r.at.task
	spec := r.shared.spec(a, t.Row.How.Save && r.session.Keeps(t.Lane))
	if a.claims && a.atomic {
		spec.Claim = func(xact int64) bool {
			a.claim, a.refused = r.shared.prepare(t, r.session, Preparation{
				PID: int32(r.session.PID), Since: r.session.Since, Start: r.shared.Clock.Now(), Xact: xact, Exactly: a.once(), Claims: true,
			})
			t.claimed.Store(a.claim == Taken)
			return a.claim == Taken
		}
	}
	return spec
}

// unbegun handles the error of a task whose SQL has not begun.
func (r *runner) unbegun(ctx context.Context, err error) {
	answer, refused := r.at.claim, r.at.refused
	if failure := new(text.Failure); errors.As(err, &failure) {
		answer, refused = Unprepared, failure
	} else if !errors.Is(err, exec.ErrUnclaimed) {
		r.lose(ctx, time.Time{}, nil, err)
		return
	}
	r.requeue()
	r.untaken(r.outcome(time.Time{}, nil), answer, refused)
}

// inPipeline tells whether the server has the COMMIT of the pending task already, and a task after it.
func (r *runner) inPipeline() bool { return r.pending.tail != nil && r.session.Behind() > 0 }

// runPipelined concludes the pending task, and then runs the next task of the pipeline.
func (r *runner) runPipelined(ctx context.Context) {
	verdict, start, begun, err := r.session.Next()
	switch {
	case err == nil && !begun:
		r.requeue()
		r.conclude(verdict, nil)
		return
	case err != nil:
		r.leave() // first: it empties the pipeline, and conclude may tell the outcome at once
		r.conclude(verdict, err)
		return
	}
	q, ok := r.pipeline.next()
	r.conclude(verdict, nil)
	if !ok { // the leader called the task back, but the answer was only late: the task is not ours any more
		r.session.Abandon()
		r.leave()
		return
	}
	r.post()
	r.at = q.attempt
	r.shared.Profiles.joins(q.task)
	r.pipeline.extend(q.task, r.session)
	r.attend(ctx, q.spec, start)
}

// attend waits for the result of a task whose SQL is under way.
func (r *runner) attend(ctx context.Context, spec *exec.Task, start time.Time) {
	t, s := r.at.task, r.shared
	r.session.Tasks++
	began, told := time.Now(), start
	if t.Row.Remote != "" { // the time of a remote server may be wrong
		start = s.Clock.Now()
	}
	t.begin(r.session.Session, start, r.at.once())
	s.Lanes.Began(t, start)
	result, err := r.session.Await(spec)
	t.end()
	s.Profiles.leaves(t)
	if r.prevStop.IsZero() {
		r.prevStop = told
	}
	if !spec.GetsID() { // else it seems to have written
		s.Profiles.saw(t, r.at.atomic, result.Stop.Sub(r.prevStop), result)
	}
	if r.prevStop = result.Stop; result.Stop.IsZero() || t.Row.Remote != "" {
		result.Stop = start.Add(time.Since(began))
	} else {
		s.Clock.heard(result.Stop)
	}
	r.session.Saved, r.session.Holds = t.Lane, t.Row.How.Save
	r.session.Shielded = r.session.Shielded || t.Marks.Load()
	if err != nil {
		r.lose(ctx, start, result, err)
	} else {
		r.requeue()
		r.ran(start, result)
	}
}
