package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// longWait is the wait before the last try to write an end that SQL of a trigger refuses with an
// error which another transaction may be the cause of. (Where there is no trigger in it, it passes
// some day.)
const longWait = time.Second

// Refusals that rows of ours tell of are errors like the server's own, with an SQLSTATE that only we
// have.
var (
	errTooMuch  = ours("TK010", "too much follows on several tasks for one statement")
	errIDsTaken = ours("TK011", "very many ids that come next are taken")
	errKeyWaits = ours("TK012", "another task has come to wait with the key of the repetition")
	errLeftOut  = ours("TK013", "a trigger or policy of the table has left out what follows on the task")
	errKept     = ours("TK014", ledger.ErrKept.Error())
)

func ours(code, message string) error {
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message}
}

// refusedByServer tells an answer of a server that goes on from the loss of the connection. What is
// wrong with the table as a whole, such as a missing right, is not a matter of rows: it ends the
// leadership.
func refusedByServer(err error) bool {
	if errors.As(err, new(*unreadable)) {
		return true
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Severity == "FATAL" || answer.Severity == "PANIC" {
		return false
	}
	switch answer.Code {
	case "42501":
		return answer.Where != "" || answer.Routine != "aclcheck_error" // a policy's word, or a trigger's, and may be that of one row only
	case "42P01", "42703", "42704":
		return answer.Where != "" // likewise
	case "53100", "53200":
		return raisedBySQL(answer) // a full disk meets what a trigger does as well
	case "57014":
		return answer.Where != "" || isSlow(err)
	case "25006", "57P01", "57P02", "57P03":
		return answer.Where != "" // SQL can raise any code, and what is too slow for one row is a matter of that row
	}
	return true
}

// raisedBySQL tells an error that SQL has raised from one of the server's own.
func raisedBySQL(answer *pgconn.PgError) bool { return answer.Routine == "exec_stmt_raise" }

// isHopeless tells that a row has refused us recently. It is tried again after a minute, as what
// refuses may have been mended.
func (l *loop) isHopeless(id int64) bool {
	since, known := l.hopeless[id]
	if known && time.Since(since) > time.Minute {
		delete(l.hopeless, id)
		return false
	}
	return known
}

// passing tells an error that another transaction is the cause of.
func passing(answer *pgconn.PgError) bool {
	return answer.Code == "40001" || answer.Code == "40P01" || answer.Code == "55P03" || answer.Code == "TK011" || answer.Code == "TK012" || outdated(answer)
}

// isOfLocks tells the server's own error of a lock that another transaction has, wherever it is met
// (SQL can raise the code, but not by that routine): in an index, or in a function, too.
func isOfLocks(answer *pgconn.PgError) bool {
	return answer.Code == "55P03" && answer.Routine == "ProcessInterrupts" || answer.Code == "40P01" && answer.Routine == "DeadLockReport"
}

// outdated tells the error of a statement of ours that was prepared before the type of a column was
// altered; the next time it is prepared again.
func outdated(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "0A000" && answer.Routine == "RevalidateCachedQuery" && answer.Where == ""
}

// refusedSilently is the end that a row has not taken though nobody has it locked and no error
// came: a trigger of the user's leaves it out.
func (l *loop) refusedSilently(e end) {
	if e.lessen(nil) {
		l.lesser(&e, errKept)
		l.keep(e)
		l.inbox.wake()
		return
	}
	l.leaveAlone(e, errKept)
}

// refused finds out why rows did not take the preparations of their tasks, or their marks, or what
// another transaction was in the way of: nothing of what they have done is left.
func (l *loop) refused(ctx context.Context, ends []end) error {
	ids := make([]int64, len(ends))
	for i, e := range ends {
		ids[i] = e.task.Row.ID
	}
	standings, err := l.standings(ctx, ids, ofEnds(ends))
	if err != nil {
		return err
	}
	for _, e := range ends {
		s := standings[e.task.Row.ID]
		if !s.stopping && !s.ours(e.task, e.PID) {
			if s.state == "PLAN" { // somebody changes it, and may again: the next run is marked before it starts
				l.reruns[e.task.Row.ID] = l.reruns[e.task.Row.ID].anotherRun()
			}
			l.gone(e)
			l.look.wanted = true // it may wait again, or another row in its place
			continue
		}
		l.turnsInto(&e, s)
		l.keep(e)
	}
	l.inbox.wake()
	return nil
}

// turnsInto decides what comes of it: the task waits to run again, if that may help.
func (l *loop) turnsInto(e *end, s standing) {
	id := e.task.Row.ID
	switch {
	case s.stopping:
		e.kind = run.Stopped
	case e.fault == nil: // it has not begun, or is to begin anew
		e.kind = run.Released
	case !e.task.Once() && !e.task.Row.Rerun:
		e.kind = run.Finished
	case e.fault.QueueIsFull() && (l.wake.Full() || l.reruns[id].runs == 0): // else by what the task itself notifies
		if l.wake.Full() {
			l.queueFull(e.fault.Text)
		}
		l.reruns[id] = l.reruns[id].anotherRun()
		e.kind, e.delay = run.Released, min(time.Second<<min(l.reruns[id].runs, 6), time.Minute)
	case run.InTheWay(e.fault) && l.reruns[id].crossed < crossedTries:
		e.kind, e.conflict = run.Released, true
		l.reruns[id], e.delay = l.reruns[id].crosses(e.fault, e.task.Row.Remote)
	default:
		e.kind = run.Finished
	}
}
