package run

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/human"
	"pgtaskd/work/pool"
)

// The functions of this file decide about runs. They return actions, which the runner carries out.

// action says what a runner does after the SQL of a run has ended.
type action int

const (
	actEnd    action = iota // note the outcome
	actLeave                // end the session, then note the outcome
	actCommit               // commit the transaction; the outcome follows from that
	actRepeat               // run the task once more, as the attempt says now
)

// readOnlyWait is how long a task waits after it met a server that has just become read-only.
const readOnlyWait = time.Second

// ran decides what follows from the result of a run, and completes the outcome. reads: transactions
// of the session were READ ONLY by default when it was opened.
func (a *attempt) ran(o *Outcome, reads bool) action {
	row, result := &a.task.Row, o.Result
	switch {
	case result.Reason != exec.NotCancelled:
		return a.ranCancelled(o)
	case result.Open:
		return actCommit
	case result.Alone: // a task that runs again is neither pipelined nor a query
		a.again = true
		return actRepeat
	case !a.atomic || !a.repeatable():
		return actEnd // a failure of the task's own
	case result.Retry() && !a.claims: // it cannot run in a transaction
		a.again, a.outside = true, true
		return actRepeat
	case row.Remote != "":
		return actEnd
	case result.ReadOnly && !(reads && row.Session.Role.Name != ""): // not a setting of the task's own role
		o.Kind, o.Fault, o.Delay = Released, result.Failure, readOnlyWait // the leader sees this, too, and starts nothing
		return actLeave                                                   // the session may have begun with that setting
	case !a.claims && InTheWay(result.Failure) && result.Failure.SQLState != "55P03" && // 55P03: it did not wait for a lock
		!result.Failure.Raised():
		o.Kind, o.Fault = Refused, result.Failure
	}
	return actEnd
}

// ranCancelled is ran for a cancelled run. If its transaction is still open, the cancel came too
// late: the run is rolled back at once, because it may have locked its own row, or the table.
func (a *attempt) ranCancelled(o *Outcome) action {
	row, result, input := &a.task.Row, o.Result, *a.task.Row.Input
	switch reason, unfinished := result.Reason, result.Failure != nil || result.Open; {
	case reason == exec.Stopped:
		o.Kind = Stopped
	case reason == exec.Drained && unfinished && a.repeatable():
		o.Kind = Released
	case reason == exec.Drained && unfinished:
		o.Fault = text.NewFailure("task was interrupted", "57014",
			"DETAIL", "The controller ended while it ran, and it may have had effects; it is not run again, as rerun is false.", "STATEMENT", input)
	case reason == exec.TimedOut && (result.Open || result.Alone):
		result.Failure = text.NewFailure(exec.TimeoutMessage, "57014", "DETAIL", exec.TimeoutDetail(row.How.Timeout), "STATEMENT", input)
	}
	if result.Open {
		return actLeave
	}
	return actEnd
}

// untaken decides what follows if the row has not taken the preparation, for the reason in answer.
// The transaction is rolled back by now. If the run itself holds the lock, the task runs once more.
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
	case Unfenced:
		o.Kind, o.Fault, o.Delay = Released, refused, unfencedWait
		if !a.task.Row.Rerun {
			o.Kind = Finished
		}
	case Unprepared:
		o.Kind, o.Fault = Finished, refused
	case Unreachable:
		o.Kind, o.Fault = Lost, lostFailure(errors.New("the leader's connection was lost"), input)
	default:
		o.Kind = Refused
	}
	return actEnd
}

// concluded decides what follows from the answer to COMMIT: a verdict, or (nil) the loss of the
// session. If the session is lost and the row is prepared, the server's record of the transaction
// decides.
func (a *attempt) concluded(o *Outcome, verdict *exec.Verdict, err error) {
	away, input := a.task.Row.Remote != "", *a.task.Row.Input
	switch {
	case away && verdict == nil && o.Xact == 0 && broken(err):
		o.Fault = lostFailure(err, input)
	case verdict == nil && !away && o.Xact == 0 && terminated(err):
		o.Kind, o.Fault = Killed, lostFailure(err, input)
	case verdict == nil:
		o.Kind, o.Fault = Lost, lostFailure(err, input)
	case verdict.Committed:
	case a.watch:
		o.Result.Failure = verdict.Failure
	case a.query: // it has no effects
		o.Kind, o.Delay = Refused, time.Millisecond
	case a.repeatable() && (InTheWay(verdict.Failure) && !verdict.Failure.Raised() || verdict.Failure.QueueIsFull() && !away):
		o.Kind, o.Fault = Refused, verdict.Failure
	case o.Xact != 0 && verdict.Failure.SQLState == "57014" && !verdict.Failure.Raised():
		// somebody has cancelled the COMMIT; the reason does not matter
		o.Kind, o.Delay = Released, time.Millisecond
	default:
		o.Result.Failure = verdict.Failure
	}
}

// terminated tells whether the server has ended the session with a FATAL error, without a crash. If
// the server goes on, a person or a time limit has ended the session.
func terminated(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Fatal != nil && gone.Fatal.Code != "57P02"
}

// lost decides what follows from err, the loss of the session in the middle of a run. ended: a
// remote server has ended the session, so the task has failed if that server goes on.
func (a *attempt) lost(o *Outcome, err error) (ended bool) {
	t, result := a.task, o.Result
	unready := exec.NotCancelled // why the task was cancelled before its SQL began
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
		o.Kind = Released // the session had ended while it was idle
	case result != nil && result.Reason == exec.Stopped:
		o.Kind = Stopped
		result.Failure = o.Fault
	case result != nil && result.Reason == exec.TimedOut:
		o.Kind = Finished
		o.Fault = text.NewFailure(exec.TimeoutMessage, "57014", "DETAIL",
			fmt.Sprintf("%s It did not obey within %s: its session was ended.",
				exec.TimeoutDetail(t.Row.How.Timeout), human.Duration(exec.Obey)), "STATEMENT", *t.Row.Input)
	case t.Row.Remote != "" && broken(err):
		o.Kind = Finished // the server would break the protocol again
	case o.Start.IsZero() || !terminated(err):
	case t.Row.Remote == "":
		o.Kind = Killed
	default:
		return true
	}
	return false
}

// InTheWay tells whether another transaction was in the way. Unless the SQL itself has raised the
// error, the task is not at fault.
func InTheWay(f *text.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03")
}

// lostFailure returns the failure of a task whose session is gone.
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

// broken tells whether the session was lost because its server has broken the protocol.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}

// attempt says how one run of a task runs. The runner makes it when the task starts, and decides
// once the task has a session.
type attempt struct {
	task    *Task // nil: no task
	atomic  bool  // it runs in a transaction of ours
	query   bool  // atomic on a remote, and it must not write
	forced  bool  // its transaction gets an id even if it seems to write nothing
	exact   bool  // atomic on a remote, and its effects happen exactly once
	watch   bool  // atomic on a remote, and may write, but not exactly once: its profile learns whether it writes
	again   bool  // it runs once more, for a reason of our own:
	outside bool  // it cannot run in a transaction,
	claims  bool  // or it locks its own row; so its row is prepared before its SQL begins

	claim   Prepared      // the answer to that preparation
	refused *text.Failure // why the table refuses it
}

// decide decides how the task runs on the session. may: on a remote, it can run exactly once if the
// remote can.
func (a *attempt) decide(d *Dispatcher, session *pool.Session) (may bool) {
	t := a.task
	t.Examine()
	a.atomic, a.forced = t.atomic() && !a.outside, t.Traits.Notifies
	if t.Row.Remote == "" {
		a.forced = a.forced || d.Foreign.Load()
		return false
	}
	a.forced = a.forced || session.Foreign
	a.query, a.watch, a.exact = false, false, false // the attempt may repeat a run as a query that has written
	if !a.again && !session.Foreign {
		a.query, a.watch = d.Profiles.asQuery(t)
	}
	may = a.atomic && !a.query
	a.atomic = a.query || a.watch
	return may
}

// once tells whether the effects of the run happen exactly once, judged by its SQL.
func (a *attempt) once() bool {
	return a.task.Traits != nil && a.atomic && !a.task.Traits.Outside && !a.watch
}

// repeatable tells whether the task may run again.
func (a *attempt) repeatable() bool { return a.task.Row.Rerun || a.once() }

// guarded tells whether the mark must be on the server's disk before the task starts. If a crash
// lost the mark, the task could run twice though it must not, or count as one without effects.
func (a *attempt) guarded() bool { return !a.once() || !a.task.Row.Rerun }

// needsMark tells whether the row must show WORK before the task starts: the task is not exactly
// once, must not run again, or has met a lock on its row before.
func (a *attempt) needsMark() bool {
	t := a.task
	return t.Row.marksFirst() || !a.atomic || a.watch || a.exact || a.again || t.Again > 0 || t.Traits.Outside
}

// spec returns the task in the form that its session needs. keep: it runs in the state that the
// previous task has left.
func (d *Dispatcher) spec(a *attempt, keep bool) *exec.Task {
	t, live, parent := a.task, d.Live.Load(), ""
	if t.Row.Parent != nil {
		parent = strconv.FormatInt(*t.Row.Parent, 10)
	}
	traits, how := *t.Traits, &t.Row.How
	traits.Modes = traits.Modes || len(how.Settings) > 0 // the settings may change a mode
	return &exec.Task{
		Sending: t.sending(),
		Input:   *t.Row.Input, Traits: traits, Atomic: a.atomic, Save: how.Save, Keep: keep,
		Settings: [][2]string{
			{"pg_task.id", strconv.FormatInt(t.Row.ID, 10)},
			{"pg_task.plan", t.Row.Schedule.Plan.UTC().Format("2006-01-02 15:04:05.000000+00")}, // in any DateStyle
		},
		Usual: exec.Usual{
			pool.OfGroup(d.Target, t.Row.Group), pool.OfTask(d.Target, *t.Row.Data, parent, int(t.Row.Attempt)),
		},
		Own: how.Settings, Timeout: how.Timeout, Format: how.Format, Limit: live.OutputLimit, Strict: live.OutputFail,
		Query: a.query, Exact: a.exact, Forced: a.forced, Guarded: a.guarded(),
	}
}
