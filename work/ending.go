package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pgtaskd/exec"
)

// judge says what follows from the result of a run.
func (r *runner) judge(t *task, start time.Time, result *exec.Result) (next *task) {
	e := end{task: t, kind: finished, pid: int32(r.seat.session.PID), since: r.seat.session.Since, start: start, stop: result.Stop, result: result, heavy: r.isHeavy(result)}
	switch {
	case result.Open && result.Reason == exec.NotCancelled:
		return r.hold(t, start, result)
	case result.Alone && result.Reason == exec.NotCancelled:
		t.lone = true // and its like do not fly any more
		return t
	case result.Forgot && !t.wary && (t.once() || t.row.Rerun) && result.Reason == exec.NotCancelled:
		t.wary = true // rolled back: once more, without what it takes away
		return t
	case result.Retry() && t.atomic && (t.once() || t.row.Rerun) && result.Reason == exec.NotCancelled:
		t.atomic, t.lone = false, true // it cannot run inside a transaction: once more, as it is
		return t
	case result.Barred && t.atomic && t.row.Remote == "" && (t.once() || t.row.Rerun) && result.Reason == exec.NotCancelled:
		e.kind, e.fault, e.delay = released, result.Failure, barred // the leader will see it, too, and start nothing more
		r.leave()                                                   // it may have begun with that setting, which is only for a moment
	case result.Reason == exec.Drained && (result.Failure != nil || result.Open) && (t.once() || t.row.Rerun):
		e.kind = released
	case result.Reason == exec.Drained && result.Failure != nil:
		e.fault = exec.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", *t.row.Input)
	case result.Reason == exec.Stopped:
		e.kind = stopped
	case result.Reason == exec.TimedOut && (result.Failure == nil && result.Open || result.Alone):
		result.Failure = exec.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.row.Input)
	}
	if result.Open {
		r.leave() // it may have locked what its end is written to
	}
	r.finish(e)
	if result.Reason != exec.NotCancelled {
		r.leave() // a cancel may have been sent after the run's end: nothing else must meet it
	}
	if r.seat == nil {
		return nil
	}
	return r.another()
}

// barred is how long a task waits that met a server on which writes have just been switched off.
const barred = time.Second

// hold keeps the end of a task, whose transaction is open, until the next task's SQL goes to the server, or nothing does. Where others are with the server
// behind it, they are next, and not the task that it returns.
func (r *runner) hold(t *task, start time.Time, result *exec.Result) (next *task) {
	r.before = &pending{task: t, start: start, result: result, tail: &exec.Tail{Input: *t.row.Input}, heavy: r.isHeavy(result)}
	if r.before.heavy && r.seat.session.Behind() > 0 {
		r.ditch()
		return nil
	}
	if r.seat.session.Behind() > 0 { // what ends its transaction is with the server
		return t
	}
	if t.row.Remote == "" && (result.Wrote || !t.row.Single || r.foreign.Load()) {
		r.before.quick = t.row.Single && t.again == 0 && t.image == nil && result.Stop.Sub(start) < time.Second
		r.before.tail.Calls = r.done(r.before)
	}
	if r.seat.spent() {
		r.flush()
		r.leave()
		return nil
	}
	if !r.before.heavy && !t.marks.Load() {
		if next = r.lanes.Follow(t, r.fits); next != nil {
			return next
		}
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

// settle tells the loop what became of the end that was pending.
func (r *runner) settle(verdict *exec.Verdict, err error) {
	p := r.before
	if p == nil {
		return
	}
	r.before = nil
	e := end{
		task: p.task, kind: committed, pid: int32(r.seat.session.PID), since: r.seat.session.Since,
		start: p.start, stop: p.result.Stop, result: p.result, heavy: p.heavy,
	}
	switch {
	case p.task.row.Remote != "" && verdict == nil && broken(err):
		e.fault, e.kind = lostFailure(err, p.task), finished
	case p.task.row.Remote != "" && verdict == nil:
		e.kind, e.fault = lost, lostFailure(err, p.task)
	case p.task.watch && verdict.Refused != nil:
		e.kind, e.result.Failure = finished, verdict.Refused
	case p.task.query && !verdict.Committed: // there is nothing to lose
		e.kind, e.delay = released, time.Millisecond
		r.habits.forget(p.task)
	case verdict == nil && metLimit(err):
		e.kind, e.fault, e.delay = refused, lostFailure(err, p.task), time.Millisecond
	case verdict == nil:
		e.kind, e.fault = gone(err), lostFailure(err, p.task)
	case verdict.Committed && len(p.tail.Calls) == 0:
		e.kind = finished
	case verdict.Committed:
		r.shed(&e)
	case verdict.Deferred != nil && inTheWay(verdict.Deferred) && (p.task.once() || p.task.row.Rerun):
		e.kind, e.fault, e.delay = refused, verdict.Deferred, time.Millisecond
	case verdict.Deferred != nil:
		e.kind = finished
		e.result.Failure = verdict.Deferred
	case verdict.Refused != nil && verdict.Refused.SQLState == "25006" && !p.result.Wrote:
		e.kind = finished // a transaction that only reads: there is nothing to lose
	default:
		e.kind, e.fault = refused, refusal(verdict.Refused)
		missed := verdict.Refused == nil || verdict.Refused.Missed()
		if p.quick || verdict.Forgot || inTheWay(verdict.Refused) || missed && p.task.image == nil {
			e.delay = time.Millisecond // worth another try
		}
	}
	r.finish(e)
}

// gone tells what the loss of a session means whose task had only its end to be written. A last word of the server's, unless it crashed, is the will
// of a person or a time limit, if the server goes on.
func gone(err error) endKind {
	var session *exec.Lost
	if errors.As(err, &session) && session.Fatal != nil && session.Fatal.Code != "57P02" {
		return killed
	}
	return lost
}

// metLimit tells that a statement of ours has met a limit which the task's SQL has left in its session, and which has ended that: it is worth another try.
func metLimit(err error) bool {
	var session *exec.Lost
	return errors.As(err, &session) && session.Limited
}

// inTheWay tells an error that is no fault of the task's: another transaction was in the way of its end.
func inTheWay(f *exec.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03" || f.KeyWaits())
}

// refusal is what a task's row shows when it did not take its own end.
func refusal(f *exec.Failure) *exec.Failure {
	if f == nil || f.Missed() {
		return exec.NewFailure("task was changed while it ran", "55000",
			"DETAIL", "Its own SQL, or a trigger or policy of the table, has changed its row so that its end could not be written; its effects are rolled back.")
	}
	switch {
	case f.KeyWaits():
		return exec.NewFailure("another task has come to wait with the key of the repetition", "40001")
	case f.LeftOut():
		return notRepeated()
	case f.Exhausted():
		return unnumbered(strings.TrimPrefix(f.Text, "ERROR:  "+unwrittenEnd))
	}
	return &exec.Failure{Text: f.Text, SQLState: f.SQLState}
}

// unnumbered is the error of a task whose repetition has no id, as the server says of the sequence.
func unnumbered(why string) *exec.Failure {
	return exec.NewFailure("the repetition of the task could not be made: "+why, "2200H",
		"DETAIL", "It takes an id from the sequence; the effects of the task are rolled back where they can be.",
		"HINT", "Raise the sequence's MAXVALUE, or set it back: ALTER SEQUENCE … MAXVALUE …. Then set the task to PLAN.")
}

// unwrittenEnd is how exec begins the error of an end that was refused.
const unwrittenEnd = "the end of the task could not be written: "

// notRepeated is the error of a task whose repetition has not come about.
func notRepeated() *exec.Failure {
	return exec.NewFailure("the repetition of the task was left out", "55000",
		"DETAIL", "A trigger or policy of the table has left its row out; the effects of the task are rolled back.")
}

// lose ends the session that has gone in the middle of a task.
func (r *runner) lose(ctx context.Context, t *task, start time.Time, result *exec.Result, err error) {
	e := end{task: t, kind: lost, pid: int32(r.seat.session.PID), since: r.seat.session.Since, start: start, stop: r.clock.now(), result: result}
	if result != nil {
		e.stop = result.Stop
	}
	e.fault = lostFailure(err, t)
	e.heavy = result != nil && r.isHeavy(result)
	e.stays = result != nil && result.Reason != exec.NotCancelled && t.row.Remote == ""
	var gone *exec.Lost
	switch {
	case start.IsZero() && errors.As(err, &gone) && gone.Unbegun:
		e.kind = released // the session had ended while it had no work
		if r.seat.tasks == 0 {
			e.delay = r.patience.fail(t.row.Remote) // as if it could not have been opened
		}
	case result != nil && result.Reason == exec.Stopped:
		e.kind = stopped
		e.result.Failure = e.fault
	case result != nil && result.Reason == exec.TimedOut:
		e.kind = finished
		e.fault = exec.NewFailure("canceling statement due to statement timeout", "57014", "DETAIL",
			fmt.Sprintf("Its timeout of %s passed, and it did not obey within %s: its session was ended.", t.row.Timeout, exec.Obey), "STATEMENT", *t.row.Input)
	case t.row.Remote != "" && broken(err):
		e.kind = finished // it would do so again
	case !start.IsZero() && t.row.Remote == "" && metLimit(err):
		e.kind, e.delay = refused, time.Millisecond
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
	return err == nil && started.Add(r.seat.ahead).Before(since)
}

// lostFailure is the error of a session that has gone.
func lostFailure(err error, t *task) *exec.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return gone.Failure(*t.row.Input)
	}
	if broken(err) {
		return exec.NewFailure("the server has broken the protocol while the task ran", "08P01", "DETAIL", gone.Cause.Error(), "STATEMENT", *t.row.Input)
	}
	return exec.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", *t.row.Input)
}

// broken tells the loss of a session whose server does not keep to the protocol from that of a connection.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}

// finish takes note of the end of a task: it is known now, and what the task has done can be seen.
func (r *runner) finish(e end) {
	r.leaves(e.task)
	r.stats.ran(&e)
	if r.at == e.task {
		r.at = nil
	}
	e.task.forgetNames()
	r.others.ended(e.task.row.Input, e.kind == lost || e.kind == killed)
	r.late = append(r.late, e)
}

// post tells the loop of the ends that are known, and gives the slots of their tasks back.
func (r *runner) post() {
	for _, e := range r.late {
		r.deliver(e)
	}
	r.late = nil
}
