package work

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// longWait is the wait before the last try to write an end that SQL of a trigger refuses with an
// error which another transaction may be the cause of. (Where there is no trigger in it, it passes
// some day.)
const longWait = time.Second

// leftOut tells the error by which repeat.sql says that a repetition has not come about, keyWaits
// the one by which it says that another task has come to wait with its key.
func leftOut(answer *pgconn.PgError) bool { return dividedBy(answer, "cash_div_int") }

func keyWaits(answer *pgconn.PgError) bool { return dividedBy(answer, "int28div") }

var errKept = errors.New("a trigger of the table keeps the row as it is")

// isUnmoved tells the error by which a statement says that a trigger has kept the state of a row as
// it was.
func isUnmoved(answer *pgconn.PgError) bool { return dividedBy(answer, "int84div") }

func dividedBy(answer *pgconn.PgError, routine string) bool {
	return answer.Code == "22012" && strings.HasPrefix(answer.Routine, routine) && answer.Where == ""
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

// trust gives our statements the role's own search_path once a trigger of the user's has turned out
// to need it, as it names things that it does not qualify: until then the path is empty, so that
// nothing can come between our statements and what they mean.
func (l *loop) trust(ctx context.Context, err error) (trusted bool) {
	var answer *pgconn.PgError
	switch {
	case l.path != nil:
		return false
	case errors.As(err, &answer) && answer.Where != "" && pathless(answer.Code):
	default:
		return false
	}
	l.log.Warn().Err(err).Msg("a trigger needs the role's search_path; using it from now on")
	if l.control.trust(ctx, l.target) != nil {
		return false // the server has no room for a session, or the connection is lost: the next refusal tries again
	}
	l.path = &l.control.path
	return true
}

// pathless tells the errors of a name that search_path does not lead to.
func pathless(code string) bool {
	switch code {
	case "42P01", "42883", "42704", "3F000":
		return true
	}
	return false
}

// isHopeless tells that a row has refused us recently. It is tried again after a minute, as what
// refuses may have been mended; what lacks a partition, when seekPartition finds others, or later.
func (l *loop) isHopeless(id int64) bool {
	since, known := l.hopeless[id]
	rest := time.Minute
	if l.lacks.waiting[id].met.After(since.Add(-time.Second)) {
		rest = lacksAgain
	}
	if known && time.Since(since) > rest {
		delete(l.hopeless, id)
		return false
	}
	return known
}

// passing tells an error that another transaction is the cause of.
func passing(answer *pgconn.PgError) bool {
	return answer.Code == "40001" || answer.Code == "40P01" || answer.Code == "55P03" || keyWaits(answer) || areMany(answer) || outdated(answer)
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
		l.keep(e)
		l.inbox.wake()
		return
	}
	l.leaveAlone(e, nil)
}

// refused finds out why rows did not take the ends of their tasks, whose effects are rolled back.
func (l *loop) refused(ctx context.Context, ends []end) error {
	l.look.same = time.Time{} // the table may be another's by now
	if err := l.sure(ctx); err != nil {
		return err
	}
	ids := make([]int64, len(ends))
	for i, e := range ends {
		ids[i] = e.task.Row.ID
	}
	standings, err := l.standings(ctx, ids, ofEnds(ends))
	if err != nil {
		return err
	}
	taken, crowded, err := l.areTaken(ctx, ends)
	if err != nil {
		return err
	}
	if err := l.retoken(ctx, ends); err != nil {
		return err
	}
	for i, e := range ends {
		s := standings[e.task.Row.ID]
		if !s.stopping && !s.ours(e.task, e.PID) {
			if s.state == "PLAN" { // somebody changes it, and may again: the next run is marked before it starts
				l.reruns[e.task.Row.ID] = l.reruns[e.task.Row.ID].anotherRun()
			}
			l.gone(e)
			l.look.wanted = true // it may wait again, or another row in its place
			continue
		}
		l.turnsInto(&e, s, taken[i], crowded)
		if e.kind == run.Finished && e.fault == nil {
			e.fault = run.Refusal(nil)
		}
		if e.queued = e.kind == run.Finished; e.queued {
			l.aside.queued++
		}
		e.final = e.kind == run.Finished && !run.InTheWay(e.fault) && !e.fault.QueueIsFull() // the next try would be refused as well
		l.keep(e)
	}
	l.inbox.wake()
	return nil
}

// turnsInto decides what comes of a refused end: it is written some other way, or its task waits to
// run again, if that may help.
func (l *loop) turnsInto(e *end, s standing, taken, crowded bool) {
	id := e.task.Row.ID
	switch {
	case s.stopping:
		e.kind = run.Stopped
	case e.Result == nil && e.fault == nil: // it has not begun
		e.kind = run.Released
	case !e.task.Once() && !e.task.Row.Rerun, e.fault == nil:
		e.kind = run.Finished
	case taken && l.reruns[id].taken < takenMost: // another transaction has it, which counts for nothing
		l.drawsAgain(e, crowded)
	case short(e.fault.SQLState), e.Lacking && l.mayRunAgain(id, e.fault), // as long as that lasts
		e.fault.QueueIsFull() && (l.wake.Full() || l.reruns[id].runs == 0): // else by what the task itself notifies
		l.runsWhenThereIsRoom(e)
	case run.InTheWay(e.fault) && l.reruns[id].crossed < crossedTries-1:
		e.kind = run.Released
		l.reruns[id], e.delay = l.reruns[id].crosses(e.fault, e.task.Row.Remote)
	case !run.InTheWay(e.fault) && !e.ForGood && (e.delay > 0 || ofTable(e.fault.SQLState)) && l.reruns[id].runs < tries:
		l.reruns[id] = l.reruns[id].anotherRun()
		e.kind, e.delay = run.Released, 0
	case !l.givesBack(e):
		e.kind = run.Finished
	}
}

// runsWhenThereIsRoom has a task run again when the server may have what its end lacked, and says
// what that is.
func (l *loop) runsWhenThereIsRoom(e *end) {
	id := e.task.Row.ID
	switch {
	case e.Lacking:
		l.lacking(e.fault)
	case e.fault.QueueIsFull() && l.wake.Full():
		l.queueFull(e.fault.Text)
	}
	l.reruns[id] = l.reruns[id].anotherRun()
	e.kind, e.delay = run.Released, min(time.Second<<min(l.reruns[id].runs, 6), time.Minute)
	if e.Lacking && e.fault.SQLState == exec.NoPartitionCode {
		e.delay = time.Second << min(l.reruns[id].runs, lackedMost)
	}
}

// short tells that the server had no room for the end of a task, or no time.
func short(code string) bool { return strings.HasPrefix(code, "53") }

// ofTable tells that there may be something wrong with the table as a whole: a right has been taken
// away, a column or the table dropped. If so the next look finds that out, and nothing runs until
// it is mended; else it is the row's, or a trigger's, fault.
func ofTable(code string) bool {
	switch code {
	case "25006", "42501", "42P01", "42703", "3F000":
		return true
	}
	return false
}
