package work

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// Refusals that rows of ours tell of are errors like the server's own, with an SQLSTATE that only we
// have.
var (
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

// refusesAgain is how long nothing is tried with a row that has refused a change: what refuses may be
// mended by then.
const refusesAgain = time.Minute

// refuses takes note of a row that has refused a change.
func (l *loop) refuses(id int64, rest time.Duration) {
	l.parked[id] = parked{until: time.Now().Add(rest), refuses: true}
}

// isHopeless tells that a row has refused us recently.
func (l *loop) isHopeless(id int64) bool {
	p := l.parked[id]
	return p.refuses && time.Now().Before(p.until)
}

// passing tells an error that another transaction is the cause of, or that passes when the table has
// what it lacks.
func passing(err error) bool {
	return hasState(err, "40001", "40P01", "55P03", "TK011", "TK012") || isQueueFull(err) || isLack(err) || outdated(err) || isKeyTaken(err)
}

// isKeyTaken tells that a task cannot wait again because another one with its key has just come to:
// the next try sees that.
func isKeyTaken(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "23505" && sql.IsWaitKey(answer.ConstraintName)
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

// turnsInto decides what comes of a run whose effects are rolled back, since its row was changed, or
// something was in the way: it waits to run again, if that may help.
func (l *loop) turnsInto(e *end) {
	id := e.task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: it is marked before it starts anew
		l.reruns[id] = l.reruns[id].anotherRun()
		e.Kind = run.Released
	case !e.task.Once() && !e.task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (l.wake.Full() || l.reruns[id].runs == 0): // else by what the task itself notifies
		if l.wake.Full() {
			l.queueFull(e.Fault.Text)
		}
		l.reruns[id] = l.reruns[id].anotherRun()
		e.Kind, e.Delay = run.Released, min(time.Second<<min(l.reruns[id].runs, 6), time.Minute)
	case run.InTheWay(e.Fault) && l.reruns[id].crossed < crossedTries:
		e.Kind, e.conflict = run.Released, true
		l.reruns[id], e.Delay = l.reruns[id].crosses()
	default:
		e.Kind = run.Finished
	}
}

// crossedTries is how often a task that another transaction was in the way of (40001, 40P01, 55P03)
// is run again before it FAILs.
const crossedTries = 5

// again is how often a task had to be run again for reasons of our own.
type again struct {
	runs    int
	crossed int // of those, because another transaction was in the way of its end
}

// crosses counts another such run, and says how long it is to wait: others that met it wait as
// well, and not for as long.
func (a again) crosses() (again, time.Duration) {
	a.runs, a.crossed = a.runs+1, a.crossed+1
	return a, rand.N(5 * time.Millisecond << min(a.crossed, 7))
}

func (a again) anotherRun() again {
	a.runs++
	return a
}
