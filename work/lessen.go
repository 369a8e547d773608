package work

import (
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// An end that a table refuses is written all the same, with less in it each time, whatever refuses
// it (a CHECK, a trigger, a domain, an index): a task whose end stands nowhere would run again and
// again.

// What is left of an end, by how often it was lessened.
const (
	lessFailed = iota + 1 // the task FAILs, with the refusal as its error
	lessShort             // no output, no notice, and the beginning of the error
	lessKept              // output, notice and SQLSTATE stay as the row has them
	lessTiny              // and the error is a few words
	lessState             // the error stays, too
	lessNothing

	shortMost = 500 // bytes
	tinyError = "ERROR:  end could not be written"
)

// lessen makes less of an end that was refused, by an error or (nil) silently; false when nothing
// is left. A task that ran well fails because of that: without another try, as it would be refused
// again. A character that the database does not have is no failure.
func (e *end) lessen(err error) bool {
	if isUnsendable(err) && !e.ascii {
		e.ascii = true
		return true
	}
	var repetition *repetitionError
	followed := errors.As(err, &repetition)
	switch own := e.failure(); {
	case e.kind == run.Finished && own == nil:
		e.fault, e.final = unwritten(err), true
	case e.kind == run.Finished && followed && e.fault == nil:
		e.fault = &exec.Failure{Text: own.Text + "\n" + unwritten(err).Text, SQLState: own.SQLState}
		fallthrough
	case e.lessened == 0:
		e.lessened = lessFailed // it has failed already
	}
	if followed && !e.bare {
		e.bare = true
		return true
	}
	if e.lessened++; e.lessened == lessNothing && e.kind == run.Finished && !e.final { // it may be the wait for another try that is refused
		e.final, e.lessened = true, lessFailed
	}
	return e.lessened < lessNothing
}

// unwritten is the error of a task that ran well, and whose end the table has refused, or whose
// repetition.
func unwritten(err error) *exec.Failure {
	var answer *pgconn.PgError
	switch {
	case !errors.As(err, &answer), isUnmoved(answer):
		return exec.NewFailure("task was changed while it ran", "55000",
			"DETAIL", "Its own SQL, or a trigger or policy of the table, has kept its end out of its row; what it has committed by itself, or elsewhere, stays.")
	case leftOut(answer):
		return run.NotRepeated()
	}
	return exec.NewFailure(run.UnwrittenEnd+answer.Message, answer.Code, "DETAIL", answer.Detail, "HINT", answer.Hint,
		"CONTEXT", answer.Where)
}

// keeps tells whether what is not said stays as the row has it.
func (e *end) keeps() bool { return e.lessened >= lessKept }

// told are the output and the notice, as they are to be written.
func (e *end) told(encoding string) (output, notice *string) {
	if e.Result == nil || e.lessened >= lessShort {
		return nil, nil
	}
	return e.stored(e.Result.Output, encoding), e.stored(e.Result.Notice, encoding)
}

// shown is a failure as it is to be written.
func (e *end) shown(failure *exec.Failure, encoding string) (text, sqlstate *string) {
	if failure == nil || e.lessened >= lessState {
		return nil, nil
	}
	if text = e.stored(&failure.Text, encoding); e.lessened >= lessShort {
		short := exec.ASCII(*text)
		short = strings.TrimRight(short[:min(len(short), shortMost)], "\n\t")
		text = &short
	}
	if e.lessened >= lessTiny {
		tiny := tinyError
		text = &tiny
	}
	if e.keeps() {
		return text, nil
	}
	return text, &failure.SQLState
}

// stored is a text as the database can store it; nil stays nil.
func (e *end) stored(text *string, encoding string) *string {
	if text != nil && e.ascii {
		s := exec.ASCII(*text)
		return &s
	}
	return run.Stored(text, encoding)
}

// leaveAlone gives up a row that takes no end at all. It stays as it is for as long as we lead, or
// until somebody changes its state, and its lane is free. One that still says PLAN is run once
// more, and marked first: then it stays WORK. One that takes no mark either is tried again after a
// while.
func (l *loop) leaveAlone(e end, err error) {
	id := e.task.Row.ID
	if !e.task.Marks.Load() {
		l.reruns[id] = l.reruns[id].anotherRun()
		l.waitsAgain(e)
		return
	}
	if answer := new(pgconn.PgError); errors.As(err, &answer) && isUnmoved(answer) {
		err = errKept
	}
	l.log.Error().Err(err).Int64("id", id).
		Str("hint", "fix what refuses it, and set the row's state; until then the task may run again when another controller leads").
		Msg("table refuses every end of a task; row left unchanged")
	if l.leftAlone[id] = e.task.marked; !e.task.marked {
		l.hopeless[id] = time.Now()
	}
	l.gone(e)
}
