package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/human"
)

// judge says what follows from the result of a run.
func (r *runner) judge(t *Task, start time.Time, result *exec.Result) (next *Task) {
	e := Outcome{
		Task: t, Kind: Finished, PID: int32(r.session.PID), Since: r.session.Since,
		Start: start, Stop: result.Stop, Result: result, Heavy: r.isHeavy(result),
	}
	byItself := result.Reason == exec.NotCancelled
	again := byItself && (t.Once() || t.Row.Rerun) // it may run again
	switch {
	case result.Open && byItself:
		return r.holdEnd(e)
	case result.Alone && byItself:
		t.Again++ // and its like are not pipelined any more
		return t
	case again && result.Retry() && t.Atomic && !t.ahead:
		t.Atomic = false // it cannot run inside a transaction: once more, as it is
		t.Again++
		return t
	case again && result.Barred && !(r.session.Reads && t.Row.Role.Name != "") && t.Atomic &&
		t.Row.Remote == "":
		e.Kind, e.Fault, e.Delay = Released, result.Failure, barred // the leader will see it, too, and start nothing more
		r.leave()                                                   // it may have begun with that setting, which is only for a moment
	case again && InTheWay(result.Failure) && result.Failure.SQLState != "55P03" && // a lock it did not wait for
		!result.Failure.Raised() && t.Atomic && !t.ahead && t.Row.Remote == "":
		e.Kind, e.Fault = Refused, result.Failure
	case result.Reason == exec.Drained && (result.Failure != nil || result.Open) && (t.Once() || t.Row.Rerun):
		e.Kind = Released
	case result.Reason == exec.Drained && result.Failure != nil:
		e.Fault = text.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", *t.Row.Input)
	case result.Reason == exec.Stopped:
		e.Kind = Stopped
	case result.Reason == exec.TimedOut && (result.Failure == nil && result.Open || result.Alone):
		result.Failure = text.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.Row.Input)
	}
	if result.Open {
		r.leave() // it may have locked what its end is written to
	}
	r.note(e)
	if !byItself {
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
// server, or nothing does. The row of one that has written is prepared before. Where others are with
// the server after it, they are next, and not the task that it returns.
func (r *runner) holdEnd(e Outcome) (next *Task) {
	t := e.Task
	r.before = &e
	if r.session.Behind() > 0 { // what ends its transaction is with the server
		return t
	}
	if t.Row.Remote == "" && e.Result.Wrote() && !t.bare {
		if next, taken := r.prepared(); !taken {
			return next
		}
	}
	if r.session.Spent() {
		r.flush()
		r.leave()
		return nil
	}
	if !e.Heavy && !t.Marks.Load() {
		if next = r.Lanes.Follow(t, r.fits); next != nil {
			return next
		}
	}
	r.flush()
	return r.another()
}

// prepared has the row of the task show its transaction, whose end is pending. When it does not take
// that, the transaction is rolled back, and the next task is returned.
func (r *runner) prepared() (next *Task, taken bool) {
	e := r.before
	if e.Xact = e.Task.Xact(); e.Xact != 0 && e.Xact == e.Result.Xact { // before its SQL began
		return nil, true
	}
	answer, refused := r.asks(e.Task, Preparation{
		PID: e.PID, Since: e.Since, Start: e.Start, Stop: e.Stop, Xact: e.Result.Xact,
		Output: e.Result.Output, Notice: e.Result.Notice,
	})
	if answer == Taken {
		e.Xact, e.Heavy, e.Shed, e.Less = e.Result.Xact, false, true, refused
		shed(e.Result)
		return nil, true
	}
	r.before = nil
	if err := r.session.Rollback(); err != nil || answer == Unreachable {
		r.leave()
	}
	if next = r.untaken(answer, refused, *e); next == nil && r.session != nil {
		next = r.another()
	}
	return next, false
}

// tail is what commits the task that is pending; nil: there is none.
func (r *runner) tail() *exec.Tail {
	if r.before == nil {
		return nil
	}
	return &exec.Tail{Input: *r.before.Task.Row.Input}
}

// flush commits the task that is pending.
func (r *runner) flush() {
	if r.before == nil {
		return
	}
	verdict, err := r.session.End(r.tail())
	r.conclude(verdict, err)
	if err != nil {
		r.leave()
	}
}

// conclude takes down what became of the transaction that was pending. One with which a row is
// prepared is judged by the server's own record, where its answer is lost.
func (r *runner) conclude(verdict *exec.Verdict, err error) {
	if r.before == nil {
		return
	}
	e, t := *r.before, r.before.Task
	r.before = nil
	away := t.Row.Remote != ""
	switch {
	case away && verdict == nil && broken(err):
		e.Fault = lostFailure(err, t)
	case verdict == nil && (away || e.Xact != 0):
		e.Kind, e.Fault = Lost, lostFailure(err, t)
	case verdict == nil:
		e.Kind, e.Fault = lossKind(err), lostFailure(err, t)
	case verdict.Committed:
	case t.watch:
		e.Result.Failure = verdict.Failure
	case t.query: // there is nothing to lose
		e.Kind, e.Delay = Refused, time.Millisecond
	case (t.Once() || t.Row.Rerun) && (InTheWay(verdict.Failure) && !verdict.Failure.Raised() || verdict.Failure.QueueIsFull() && !away):
		e.Kind, e.Fault = Refused, verdict.Failure
	case e.Xact != 0 && verdict.Failure.SQLState == "57014" && !verdict.Failure.Raised(): // somebody has cancelled it, and is not asked what for
		e.Kind, e.Delay = Released, time.Millisecond
	default:
		e.Result.Failure = verdict.Failure
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
			e.Delay = r.Pool.Delay(t.need()) // as if it could not have been opened
		}
	case result != nil && result.Reason == exec.Stopped:
		e.Kind = Stopped
		e.Result.Failure = e.Fault
	case result != nil && result.Reason == exec.TimedOut:
		e.Kind = Finished
		e.Fault = text.NewFailure("canceling statement due to statement timeout", "57014", "DETAIL",
			fmt.Sprintf("Its timeout of %s passed, and it did not obey within %s: its session was ended.",
				human.Duration(t.Row.Timeout), human.Duration(exec.Obey)), "STATEMENT", *t.Row.Input)
	case t.Row.Remote != "" && broken(err):
		e.Kind = Finished // it would do so again
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
