package run

import (
	"errors"
	"fmt"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/human"
)

// What follows from what was seen of a run: decisions as values, on which the runner acts.

// action is what a runner does with a run whose SQL is over.
type action int

const (
	actEnd    action = iota // its outcome is noted
	actLeave                // likewise, and the session ends before
	actCommit               // its transaction is committed, and its outcome follows from that
	actRepeat               // it runs once more, as the attempt says now
)

// readOnlyWait is how long a task waits that met a server on which writes have just been switched off.
const readOnlyWait = time.Second

// ran says what follows from the result of a run, and makes the outcome that of the task. reads: the
// transactions of the session began as READ ONLY when it was opened.
func (a *attempt) ran(o *Outcome, reads bool) action {
	t, result := a.task, o.Result
	byItself := result.Reason == exec.NotCancelled
	again := byItself && a.repeatable()
	switch {
	case result.Open && byItself:
		return actCommit
	case result.Alone && byItself: // and its like are not pipelined any more
		a.again = true
		return actRepeat
	case again && result.Retry() && a.atomic && !a.claims:
		a.again, a.outside = true, true // it cannot run inside a transaction: once more, as it is
		return actRepeat
	case again && result.ReadOnly && !(reads && t.Row.Session.Role.Name != "") && a.atomic && t.Row.Remote == "":
		o.Kind, o.Fault, o.Delay = Released, result.Failure, readOnlyWait // the leader will see it, too, and start nothing more
		return actLeave                                                   // it may have begun with that setting, which is only for a moment
	case again && InTheWay(result.Failure) && result.Failure.SQLState != "55P03" && // a lock it did not wait for
		!result.Failure.Raised() && a.atomic && !a.claims && t.Row.Remote == "":
		o.Kind, o.Fault = Refused, result.Failure
	case result.Reason == exec.Drained && (result.Failure != nil || result.Open) && a.repeatable():
		o.Kind = Released
	case result.Reason == exec.Drained && result.Failure != nil:
		o.Fault = text.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", *t.Row.Input)
	case result.Reason == exec.Stopped:
		o.Kind = Stopped
	case result.Reason == exec.TimedOut && (result.Failure == nil && result.Open || result.Alone):
		result.Failure = text.NewFailure("canceling statement due to statement timeout", "57014", "STATEMENT", *t.Row.Input)
	}
	if result.Open { // it may have locked what its end is written to
		return actLeave
	}
	return actEnd
}

// untaken says what follows for a task whose row has not taken its preparation, and why. What it
// has done is rolled back. When the run itself is in the way, it runs once more.
func (a *attempt) untaken(o *Outcome, answer Prepared, refused *text.Failure) action {
	input := *a.task.Row.Input
	switch answer {
	case OwnLock:
		if !a.claims && a.task.Row.Rerun {
			a.claims = true
			return actRepeat
		}
		o.Kind, o.Fault = Finished, text.NewFailure(
			"the task has locked its own row, or the table of tasks, so that its end could not be written", "55006",
			"DETAIL", "What it has done is rolled back.",
			"HINT", "With rerun = true it would have been run once more, in another way.", "STATEMENT", input)
	case OthersLock:
		o.Kind, o.Delay = Refused, time.Millisecond
	case Unprepared:
		o.Kind, o.Fault = Finished, refused
	case Unreachable:
		o.Kind, o.Fault = Lost, lostFailure(errors.New("the leader's connection was lost"), input)
	default:
		o.Kind = Refused
	}
	return actEnd
}

// concluded says what follows from the answer to COMMIT: a verdict, or else the loss of the
// session. Where that is lost, the server's own record judges a task whose row is prepared.
func (a *attempt) concluded(o *Outcome, verdict *exec.Verdict, err error) {
	away, input := a.task.Row.Remote != "", *a.task.Row.Input
	switch {
	case away && verdict == nil && broken(err):
		o.Fault = lostFailure(err, input)
	case verdict == nil && !away && o.Xact == 0 && terminated(err):
		o.Kind, o.Fault = Killed, lostFailure(err, input)
	case verdict == nil:
		o.Kind, o.Fault = Lost, lostFailure(err, input)
	case verdict.Committed:
	case a.watch:
		o.Result.Failure = verdict.Failure
	case a.query: // there is nothing to lose
		o.Kind, o.Delay = Refused, time.Millisecond
	case a.repeatable() && (InTheWay(verdict.Failure) && !verdict.Failure.Raised() || verdict.Failure.QueueIsFull() && !away):
		o.Kind, o.Fault = Refused, verdict.Failure
	case o.Xact != 0 && verdict.Failure.SQLState == "57014" && !verdict.Failure.Raised(): // somebody has cancelled it, and is not asked what for
		o.Kind, o.Delay = Released, time.Millisecond
	default:
		o.Result.Failure = verdict.Failure
	}
}

// terminated tells that the server has ended the session with a last word, and has not crashed: a
// person or a time limit wanted that, if the server goes on.
func terminated(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Fatal != nil && gone.Fatal.Code != "57P02"
}

// lost says what follows from the loss of a session in the middle of a run, err. ended: a remote
// server has ended the session, and the task has failed if that server goes on.
func (a *attempt) lost(o *Outcome, err error) (ended bool) {
	t, result := a.task, o.Result
	unready := exec.NotCancelled // why it was cancelled before its SQL began
	if o.Start.IsZero() {
		unready = t.cancelled()
	}
	o.Kind, o.Fault = Lost, lostFailure(err, *t.Row.Input)
	o.Stays = (unready != exec.NotCancelled || result != nil && result.Reason != exec.NotCancelled) && t.Row.Remote == ""
	var gone *exec.Lost
	switch {
	case unready == exec.Stopped:
		o.Kind = Stopped
	case o.Start.IsZero() && errors.As(err, &gone) && gone.Unbegun:
		o.Kind = Released // the session had ended while it had no work
	case result != nil && result.Reason == exec.Stopped:
		o.Kind = Stopped
		result.Failure = o.Fault
	case result != nil && result.Reason == exec.TimedOut:
		o.Kind = Finished
		o.Fault = text.NewFailure("canceling statement due to statement timeout", "57014", "DETAIL",
			fmt.Sprintf("Its timeout of %s passed, and it did not obey within %s: its session was ended.",
				human.Duration(t.Row.How.Timeout), human.Duration(exec.Obey)), "STATEMENT", *t.Row.Input)
	case t.Row.Remote != "" && broken(err):
		o.Kind = Finished // it would do so again
	case o.Start.IsZero() || !terminated(err):
	case t.Row.Remote == "":
		o.Kind = Killed
	default:
		return true
	}
	return false
}

// InTheWay tells an error that is no fault of the task's, unless its SQL has raised it: another
// transaction was in the way.
func InTheWay(f *text.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03")
}

// lostFailure is the error of a session that is gone.
func lostFailure(err error, input string) *text.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return text.ServerFailure(gone.Fatal, input)
	}
	if broken(err) {
		return text.NewFailure("the server has broken the protocol while the task ran", "08P01", "DETAIL",
			gone.Cause.Error(), "STATEMENT", input)
	}
	return text.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", input)
}

// broken tells the loss of a session whose server does not keep to the protocol from that of a
// connection.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}
