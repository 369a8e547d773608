package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/exec"
	"pgtaskd/human"
	"pgtaskd/routine"
)

// judge says what follows from the result of a run.
func (r *runner) judge(t *Task, start time.Time, result *exec.Result) (next *Task) {
	e := Outcome{Task: t, Kind: Finished, PID: int32(r.session.PID), Since: r.session.Since, Start: start, Stop: result.Stop, Result: result, Heavy: r.isHeavy(result)}
	switch {
	case result.Open && result.Reason == exec.NotCancelled:
		return r.holdEnd(t, start, result)
	case result.Alone && result.Reason == exec.NotCancelled:
		t.lone = true // and its like are not pipelined any more
		return t
	case result.Forgot && !t.wary && (t.Once() || t.Row.Rerun) && result.Reason == exec.NotCancelled:
		t.wary = true // rolled back: once more, without what it takes away
		return t
	case result.Retry() && t.Atomic && (t.Once() || t.Row.Rerun) && result.Reason == exec.NotCancelled:
		t.Atomic, t.lone = false, true // it cannot run inside a transaction: once more, as it is
		return t
	case result.Barred && !(r.session.Reads && t.Row.Role.Name != "") && t.Atomic && t.Row.Remote == "" &&
		(t.Once() || t.Row.Rerun) && result.Reason == exec.NotCancelled:
		e.Kind, e.Fault, e.Delay = Released, result.Failure, barred // the leader will see it, too, and start nothing more
		r.leave()                                                   // it may have begun with that setting, which is only for a moment
	case result.Reason == exec.Drained && (result.Failure != nil || result.Open) && (t.Once() || t.Row.Rerun):
		e.Kind = Released
	case result.Reason == exec.Drained && result.Failure != nil:
		e.Fault = exec.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", *t.Row.Input)
	case result.Reason == exec.Stopped:
		e.Kind = Stopped
	case result.Reason == exec.TimedOut && (result.Failure == nil && result.Open || result.Alone):
		result.Failure = exec.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.Row.Input)
	}
	if result.Open {
		r.leave() // it may have locked what its end is written to
	}
	r.note(e)
	if result.Reason != exec.NotCancelled {
		r.leave() // a cancel may have been sent after the run's end: nothing else must meet it
	}
	if r.session == nil {
		return nil
	}
	return r.another()
}

// barred is how long a task waits that met a server on which writes have just been switched off.
const barred = time.Second

// holdEnd keeps the end of a task, whose transaction is open, until the next task's SQL goes to the
// server, or nothing does. Where others are with the server behind it, they are next, and not the
// task that it returns.
func (r *runner) holdEnd(t *Task, start time.Time, result *exec.Result) (next *Task) {
	r.before = &pending{task: t, start: start, result: result, tail: &exec.Tail{Input: *t.Row.Input, Defers: r.Defers.Load()}, heavy: r.isHeavy(result)}
	if r.before.heavy && r.session.Behind() > 0 {
		r.ditch()
		return nil
	}
	if r.session.Behind() > 0 { // what ends its transaction is with the server
		return t
	}
	if t.Row.Remote == "" && (result.Wrote || !t.Row.Single || r.Foreign.Load()) {
		if result.Stop.Sub(start) >= longRun && !r.isOwned() {
			return nil
		}
		r.before.quick = t.Row.Single && t.Again == 0 && t.image == nil && result.Stop.Sub(start) < time.Second
		if t.Row.Role.Name == "" {
			r.before.tail.Calls = r.done(r.before)
		} else {
			r.before.tail.Calls, r.before.tail.Within = r.doneUnder(r.before)
		}
	}
	if r.session.Spent() {
		r.flush()
		r.leave()
		return nil
	}
	if !r.before.heavy && !t.Marks.Load() {
		if next = r.Lanes.Follow(t, r.fits); next != nil {
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
	shown := r.before.tail.Within != nil
	verdict, err := r.session.End(r.before.tail)
	r.conclude(verdict, err)
	if err != nil || shown && !verdict.Committed { // its token has been seen by a transaction that did not use it up
		r.leave()
	}
}

// conclude takes down what became of the end that was pending.
func (r *runner) conclude(verdict *exec.Verdict, err error) {
	p := r.before
	if p == nil {
		return
	}
	r.before = nil
	e := Outcome{
		Task: p.task, Kind: Committed, PID: int32(r.session.PID), Since: r.session.Since,
		Start: p.start, Stop: p.result.Stop, Result: p.result, Heavy: p.heavy,
	}
	switch {
	case p.task.Row.Remote != "" && verdict == nil && broken(err):
		e.Fault, e.Kind = lostFailure(err, p.task), Finished
	case p.task.Row.Remote != "" && verdict == nil:
		e.Kind, e.Fault = Lost, lostFailure(err, p.task)
	case p.task.watch && verdict.Refused != nil:
		e.Kind, e.Result.Failure = Finished, verdict.Refused
	case p.task.query && !verdict.Committed: // there is nothing to lose
		e.Kind, e.Delay = Released, time.Millisecond
		r.profiles.forget(p.task)
	case verdict == nil && metLimit(err):
		e.Kind, e.Fault, e.Delay = Refused, lostFailure(err, p.task), time.Millisecond
	case verdict == nil:
		e.Kind, e.Fault = lossKind(err), lostFailure(err, p.task)
	case verdict.Committed && len(p.tail.Calls) == 0:
		e.Kind = Finished
	case verdict.Committed:
		if !p.task.Row.Single {
			r.Leap.Passed(p.leap)
		}
		r.shed(&e)
	case InTheWay(verdict.Deferred) && !verdict.Deferred.Raised() && (p.task.Once() || p.task.Row.Rerun):
		e.Kind, e.Fault, e.Delay = Refused, verdict.Deferred, time.Millisecond
	case verdict.Deferred != nil && verdict.Deferred.QueueIsFull() && p.task.Row.Remote == "" && (p.task.Once() || p.task.Row.Rerun):
		e.Kind, e.Fault = Refused, verdict.Deferred
	case verdict.Deferred != nil:
		e.Kind = Finished
		e.Result.Failure = verdict.Deferred
	case verdict.Refused != nil && verdict.Refused.SQLState == "25006" && !p.result.Wrote:
		e.Kind = Finished // a transaction that only reads: there is nothing to lose
	default:
		e.Kind, e.Fault = Refused, Refusal(verdict.Refused)
		e.Lacking = verdict.Refused != nil && (verdict.Refused.Exhausted() || verdict.Refused.NoPartition())
		e.Taken, e.Leap = verdict.Refused.Taken(), p.leap
		missed := verdict.Refused == nil || verdict.Refused.Missed()
		e.ForGood, e.Tokenless = !verdict.Forgot && refusesForGood(verdict.Refused), verdict.Refused.Tokenless()
		if !e.ForGood && (p.quick || verdict.Refused != nil && verdict.Refused.GivenAway() || verdict.Forgot || InTheWay(verdict.Refused) || e.Tokenless || missed && p.task.image == nil) {
			e.Delay = time.Millisecond // worth another try
		}
	}
	r.note(e)
}

// lossKind tells what the loss of a session means whose task had only its end to be written. A last
// word of the server's, unless it crashed, is the will of a person or a time limit, if the server
// goes on.
func lossKind(err error) Kind {
	var session *exec.Lost
	if errors.As(err, &session) && session.Fatal != nil && session.Fatal.Code != "57P02" {
		return Killed
	}
	return Lost
}

// metLimit tells that a statement of ours has met a limit which the task's SQL has left in its
// session, and which has ended that: it is worth another try.
func metLimit(err error) bool {
	var session *exec.Lost
	return errors.As(err, &session) && session.Limited
}

// lose ends the session that is gone in the middle of a task.
func (r *runner) lose(ctx context.Context, t *Task, start time.Time, result *exec.Result, err error) {
	e := Outcome{Task: t, Kind: Lost, PID: int32(r.session.PID), Since: r.session.Since, Start: start, Stop: r.Clock.Now(), Result: result}
	if result != nil {
		e.Stop = result.Stop
	}
	e.Fault = lostFailure(err, t)
	e.Heavy = result != nil && r.isHeavy(result)
	unready := exec.NotCancelled // why it was cancelled before its SQL began
	if start.IsZero() {
		unready = t.cancelled()
	}
	e.Stays = (unready != exec.NotCancelled || result != nil && result.Reason != exec.NotCancelled) && t.Row.Remote == ""
	var gone *exec.Lost
	switch {
	case unready == exec.Stopped:
		e.Kind = Stopped
	case start.IsZero() && errors.As(err, &gone) && gone.Unbegun:
		e.Kind = Released // the session had ended while it had no work
		if r.session.Tasks == 0 {
			e.Delay = r.Pool.Delay(t.need(), err) // as if it could not have been opened
		}
	case result != nil && result.Reason == exec.Stopped:
		e.Kind = Stopped
		e.Result.Failure = e.Fault
	case result != nil && result.Reason == exec.TimedOut:
		e.Kind = Finished
		e.Fault = exec.NewFailure("canceling statement due to statement timeout", "57014", "DETAIL",
			fmt.Sprintf("Its timeout of %s passed, and it did not obey within %s: its session was ended.",
				human.Duration(t.Row.Timeout), human.Duration(exec.Obey)), "STATEMENT", *t.Row.Input)
	case t.Row.Remote != "" && broken(err):
		e.Kind = Finished // it would do so again
	case !start.IsZero() && t.Row.Remote == "" && metLimit(err):
		e.Kind, e.Delay = Refused, time.Millisecond
	case start.IsZero() || !errors.As(err, &gone) || gone.Fatal == nil || gone.Fatal.Code == "57P02":
	case t.Row.Remote == "":
		e.Kind = Killed
	case r.goesOn(ctx, t):
		e.Kind = Finished
	}
	r.session.Abandon()
	r.leave()
	r.note(e)
}

// restartTime is how long a server that restarts takes connections at most after it has ended a
// session.
const restartTime = 200 * time.Millisecond

// goesOn tells whether a remote server still takes connections a while after it has ended a session
// of ours.
func (r *runner) goesOn(ctx context.Context, t *Task) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(restartTime):
	}
	session, err := r.Pool.Connect(ctx, t.need())
	if err != nil {
		return false
	}
	defer session.Close()
	started, err := session.ServerStart(ctx)
	_, since, _ := t.Runs()
	return err == nil && started.Add(r.session.Ahead).Before(since)
}

// internal is what the row of a task shows that has made us panic where there is nobody else to
// tell.
func internal() *exec.Failure {
	return exec.NewFailure("the task could not be run", "XX000", "DETAIL",
		"pgtaskd met an internal error; its log has the details.")
}

// confess logs a panic that an attempt to connect has brought about: it says nothing of ourselves.
func (r *runner) confess(t *Task, err error) {
	var p *routine.Panic
	if errors.As(err, &p) {
		r.Failed(err).Int64("id", t.Row.ID).Msg("internal error while opening a session for a task")
	}
}

// watched does something for the task that the runner is at. When that panics, the task is taken
// for the cause; the panic goes on, and ends the leadership.
func (r *runner) watched(do func()) {
	whole := false
	defer func() {
		if whole {
			return
		}
		if r.at != nil {
			r.Blame(r.at.Row.ID)
		}
		if r.session != nil {
			r.session.Abandon()
			r.session.Close()
		}
	}()
	do()
	whole = true
}
