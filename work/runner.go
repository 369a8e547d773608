package work

import (
	"context"
	"errors"
	"strconv"
	"time"

	"pgtask/exec"
)

// runner is the goroutine that runs tasks one after the other on one session, as long as there are any that fit; then it leaves
// the session behind. The loop starts it and awaits it.
type runner struct {
	*loop
	seat   *seat
	late   []end    // ends that the loop is to hear of: once the session lies ready, where no task follows
	before *pending // the task whose SQL has run and whose transaction is open
}

// pending is a task whose end goes to the server together with the next task's SQL.
type pending struct {
	task   *task
	tail   *exec.Tail
	start  time.Time
	result *exec.Result
	quick  bool
}

// sit finds a session for the task, or opens one; nil when the task's end, without a start, has been told to the loop.
func (r *runner) sit(ctx context.Context, t *task) *seat {
	if s := r.seats.pick(t); s != nil {
		return s
	}
	closeSeats([]*seat{r.seats.room(r.target.Run)})
	session, err := r.open(ctx, t)
	if err == nil {
		r.seats.opened(session.PID)
		return &seat{session: session, remote: t.row.Remote, epoch: t.row.Epoch, born: time.Now()}
	}
	r.seats.gone(0)
	e := end{task: t, kind: released, stop: r.clock.now(), fault: unreachable(err)}
	if e.delay = r.patience.fail(t.row.Remote); final(err) {
		e.kind, e.result = finished, &exec.Result{Failure: e.fault}
	}
	r.finish(e)
	return nil
}

// serve runs t and what follows it.
func (r *runner) serve(ctx context.Context, t *task) {
	defer r.awaited.Done()
	defer r.post()
	for t != nil {
		t = r.run(ctx, t)
	}
	if r.seat == nil {
		return
	}
	if r.seat.spent() || ctx.Err() != nil {
		r.leave()
		return
	}
	if !r.seat.holds { // nobody waits for a lock that a task has left in its session
		if err := r.seat.session.Reset(); err != nil {
			r.leave()
			return
		}
	}
	r.seats.put(r.seat)
	r.inbox.wake()
}

// post tells the loop of the ends that are known.
func (r *runner) post() {
	for _, e := range r.late {
		r.inbox.end(e)
	}
	r.late = nil
}

// ask tells the loop what it has to know, and waits for its answer.
func (r *runner) ask(a ask) answer {
	r.post()
	return r.inbox.ask(a)
}

// leave ends the session.
func (r *runner) leave() {
	if r.seat != nil {
		r.seat.session.Close()
		r.seats.gone(r.seat.session.PID)
		r.seat = nil
	}
}

// run brings one task to its end, and returns the next. The end of the task may be pending then.
func (r *runner) run(ctx context.Context, t *task) (next *task) {
	r.post()
	if r.seat == nil {
		if r.seat = r.sit(ctx, t); r.seat == nil {
			return nil
		}
	}
	spec, ok := r.spec(t)
	if !ok {
		return r.another()
	}
	var tail *exec.Tail
	if r.before != nil {
		tail = r.before.tail
	}
	verdict, start, err := r.seat.session.Begin(tail, spec)
	r.settle(verdict, err)
	r.post()
	if failure := new(exec.Failure); errors.As(err, &failure) {
		r.finish(end{task: t, kind: finished, pid: int32(r.seat.session.PID), stop: r.clock.now(), fault: failure})
		return r.another()
	}
	if err != nil {
		r.lose(ctx, t, time.Time{}, nil, err)
		return nil
	}
	r.seat.bind(t)
	r.seat.tasks++
	t.begin(r.seat.session, start)
	result, err := r.seat.session.Await(spec, start)
	t.end()
	r.seat.saved, r.seat.holds = t.lane, t.row.Save
	if err != nil {
		r.lose(ctx, t, start, result, err)
		return nil
	}
	return r.judge(t, start, result)
}

// judge says what follows from the result of a run.
func (r *runner) judge(t *task, start time.Time, result *exec.Result) (next *task) {
	if result.Stop.IsZero() {
		result.Stop = r.clock.now()
	}
	e := end{task: t, kind: finished, pid: int32(r.seat.session.PID), since: r.seat.session.Since, start: start, stop: result.Stop, result: result}
	switch {
	case result.Open && result.Reason == exec.NotCancelled:
		return r.hold(t, start, result)
	case result.Retry() && t.atomic && result.Reason == exec.NotCancelled:
		t.atomic = false // it cannot run inside a transaction: once more, as it is
		return t
	case result.Reason == exec.Drained && (result.Failure != nil || result.Open) && (t.once() || t.row.Rerun):
		e.kind = released
	case result.Reason == exec.Drained && result.Failure != nil:
		e.fault = exec.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", *t.row.Input)
	case result.Reason == exec.Stopped:
		e.kind = stopped
	case result.Reason == exec.TimedOut && result.Failure == nil && result.Open:
		result.Failure = exec.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.row.Input)
	}
	if result.Reason != exec.NotCancelled {
		r.leave() // a cancel may have been sent after the run's end: nothing else must meet it
	}
	r.finish(e)
	if r.seat == nil {
		return nil
	}
	return r.another()
}

// hold keeps the end of a task, whose transaction is open, until the next task's SQL goes to the server, or nothing does.
func (r *runner) hold(t *task, start time.Time, result *exec.Result) (next *task) {
	r.before = &pending{task: t, start: start, result: result, tail: &exec.Tail{Input: *t.row.Input, Path: r.path.Load()}}
	if result.Wrote || !t.row.Single || r.foreign.Load() {
		r.before.quick = t.row.Single && t.again == 0 && result.Stop.Sub(start) < time.Second
		r.before.tail.SQL = r.done(r.before)
	}
	if r.seat.spent() {
		r.flush()
		r.leave()
		return nil
	}
	if next = r.lanes.follow(t, r.seat.fits); next != nil {
		return next
	}
	r.flush()
	return r.another()
}

// flush writes the end that is pending.
func (r *runner) flush() {
	if r.before == nil {
		return
	}
	verdict, err := r.seat.session.End(r.before.tail)
	r.settle(verdict, err)
	if err != nil {
		r.leave()
	}
}

// another is the next task that may start and that fits the seat.
func (r *runner) another() *task {
	if r.seat == nil || r.seat.spent() {
		return nil
	}
	return r.lanes.start(r.seat.fits)
}

// settle tells the loop what became of the end that was pending.
func (r *runner) settle(verdict *exec.Verdict, err error) {
	p := r.before
	if p == nil {
		return
	}
	r.before = nil
	e := end{
		task: p.task, kind: committed, pid: int32(r.seat.session.PID), since: r.seat.session.Since,
		start: p.start, stop: p.result.Stop, result: p.result,
	}
	switch {
	case verdict == nil:
		e.kind, e.fault = lost, lostFailure(err, p.task)
	case verdict.Committed && p.tail.SQL == "":
		e.kind = finished
	case verdict.Committed:
	case verdict.Deferred != nil:
		e.kind = finished
		e.result.Failure = verdict.Deferred
	case verdict.Refused != nil && verdict.Refused.SQLState == "25006" && !p.result.Wrote:
		e.kind = finished // a transaction that only reads: there is nothing to lose
	default:
		e.kind, e.fault = refused, refusal(verdict.Refused)
		if p.quick || inTheWay(verdict.Refused) || pathless(verdict.Refused.SQLState) {
			e.delay = time.Millisecond // worth another try
		}
	}
	r.finish(e)
}

// inTheWay tells an error that is no fault of the task's: another transaction was in the way of its end.
func inTheWay(f *exec.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03")
}

// refusal is what a task's row shows when it did not take its own end: a row that was not found divides by zero (done.sql).
func refusal(f *exec.Failure) *exec.Failure {
	if f == nil || f.SQLState == "22012" {
		return exec.NewFailure("task was changed while it ran", "55000",
			"DETAIL", "Its own SQL, or a trigger or policy of the table, has changed its row so that its end could not be written; its effects are rolled back.")
	}
	return &exec.Failure{Text: f.Text, SQLState: f.SQLState}
}

// lose ends the session that has gone in the middle of a task.
func (r *runner) lose(ctx context.Context, t *task, start time.Time, result *exec.Result, err error) {
	e := end{task: t, kind: lost, pid: int32(r.seat.session.PID), since: r.seat.session.Since, start: start, stop: r.clock.now(), result: result}
	e.fault = lostFailure(err, t)
	var gone *exec.Lost
	switch {
	case start.IsZero() && t.atomic && r.seat.tasks > 0:
		e.kind, e.pid = released, 0 // the session had gone while it had no work
		if t.marked {
			e.pid = int32(r.seat.session.PID)
		}
	case result != nil && result.Reason == exec.Stopped:
		e.kind = stopped
		e.result.Failure = e.fault
	case result != nil && result.Reason == exec.TimedOut:
		e.kind = finished
		e.result.Failure = exec.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.row.Input)
	case start.IsZero() || !errors.As(err, &gone) || gone.Fatal == nil || gone.Fatal.Code == "57P02":
	case t.row.Remote == "":
		e.kind = killed
	case r.goesOn(ctx, t):
		e.kind = finished
	}
	r.seat.session.Abandon()
	r.leave()
	r.finish(e)
}

// goesOn tells whether a remote server still takes connections a while after it has ended a session of ours.
func (r *runner) goesOn(ctx context.Context, t *task) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(lostTick):
	}
	session, err := r.open(ctx, t)
	if err != nil {
		return false
	}
	defer session.Close()
	started, err := session.ServerStart(ctx)
	_, since, _ := t.at()
	return err == nil && started.Before(since)
}

// lostFailure is the error of a session that has gone.
func lostFailure(err error, t *task) *exec.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return gone.Failure(*t.row.Input)
	}
	return exec.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", *t.row.Input)
}

// finish hands the end of a task to the loop and gives its slot back. The end is known now, and what it has done can be seen.
func (r *runner) finish(e end) {
	at := e.stop
	if e.start.IsZero() {
		at = time.Time{}
	}
	if e.kind != lost && e.kind != killed { // those keep their slot until their backend is gone
		r.lanes.ended(e.task, at)
	}
	r.late = append(r.late, e)
}

// spec makes a task ready for its session; false when it may not start. What is not exactly once is marked first.
func (r *runner) spec(t *task) (*exec.Task, bool) {
	if t.row.Input == nil || t.row.Data == nil {
		r.flush() // nothing of ours stays open while we wait
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		texts := r.ask(ask{task: t})
		if !texts.ok {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		t.row.Input, t.row.Data = &texts.input, &texts.data
	}
	if t.traits == nil {
		traits := exec.Examine(*t.row.Input)
		t.traits = &traits
		t.atomic = traits.Atomic() && t.row.Remote == ""
	}
	if t.needsMark() {
		r.flush()
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		marked := r.ask(ask{task: t, mark: true, pid: int32(r.seat.session.PID)})
		if marked.refused != nil {
			r.finish(end{task: t, kind: finished, stop: r.clock.now(), fault: marked.refused})
			return nil, false
		}
		if !marked.ok {
			r.finish(end{task: t, kind: refused, stop: r.clock.now()})
			return nil, false
		}
	}
	return &exec.Task{
		Input: *t.row.Input, Traits: *t.traits, Atomic: t.atomic, Save: t.row.Save, Keep: r.seat.keeps(t),
		Settings: r.settings(t), Timeout: t.row.Timeout, Format: t.row.Format,
		Limit: r.target.OutputLimit, Strict: r.target.OutputFail,
	}, true
}

// settings are what the session of a task shows, besides what it shows from its start on.
func (r *runner) settings(t *task) [][2]string {
	parent := ""
	if t.row.Parent != nil {
		parent = strconv.FormatInt(*t.row.Parent, 10)
	}
	return append(initial(r.target, t), [][2]string{
		{"pg_task.id", strconv.FormatInt(t.row.ID, 10)},
		{"pg_task.data", *t.row.Data},
		{"pg_task.plan", timestamp(t.row.Plan)},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(int(t.row.Attempt))},
	}...)
}

// initial are the settings that many tasks of a session share.
func initial(target Target, t *task) [][2]string {
	return [][2]string{
		{"application_name", sessionName(target, t.row.Group)},
		{"pg_task.group", t.row.Group},
		{"pg_task.schema", target.Schema},
		{"pg_task.table", target.Table},
	}
}

// done is the SQL that writes the end of a task in its own transaction, with its repetition unless it is quick.
func (r *runner) done(p *pending) string {
	id := strconv.FormatInt(p.task.row.ID, 10)
	sql := r.queries().Done(map[string]string{
		"id":     id,
		"owner":  strconv.Itoa(int(p.task.owner)),
		"start":  exec.Literal(timestamp(p.start)),
		"stop":   exec.Literal(timestamp(p.result.Stop)),
		"output": optional(p.result.Output),
		"notice": optional(p.result.Notice),
		"atomic": strconv.FormatBool(p.task.once()),
		"single": strconv.FormatBool(p.quick),
	})
	if p.quick {
		return sql
	}
	return "SET LOCAL TimeZone TO " + exec.Literal(r.timeZone()) + "; " + sql + "; " + r.queries().Repeat(id)
}

func optional(text *string) string {
	if text == nil {
		return "NULL"
	}
	return exec.Literal(*text)
}

// timestamp writes a moment so that every DateStyle and TimeZone reads it the same.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000+00") }
