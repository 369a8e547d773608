package work

import (
	"errors"
	"strings"
	"time"

	"pgtaskd/exec"
)

// An end that a table refuses is written all the same, with less in it each time: for whatever the refusal is for (a CHECK, a trigger, a domain, an index, the encoding of the
// database), a task whose end stands nowhere would run again and again.

// What is left of an end, by how often it was lessened.
const (
	lessFailed = iota + 1 // the task FAILs, with the refusal as its error
	lessASCII             // texts are in ASCII
	lessShort             // the beginning of the error alone
	lessTiny              // a few words
	lessState             // no text at all
	lessNothing

	shortMost = 500 // bytes
	tinyError = "ERROR:  end could not be written"
)

// repetitionError is the error of a repetition, because of which an end could not be written.
type repetitionError struct{ error }

func (e *repetitionError) Unwrap() error { return e.error }

// lessen makes less of an end that was refused, by an error or (nil) silently; false when nothing is left. A task that ran well fails because of that: without another
// try, as it would be refused again.
func (e *end) lessen(err error, refusal *exec.Failure) bool {
	if e.kind == finished && e.failure() == nil {
		e.fault, e.final = refusal, true
	} else if e.lessened == 0 {
		e.lessened = lessFailed // it has failed already
	}
	var repetition *repetitionError
	if errors.As(err, &repetition) && !e.bare {
		e.bare = true
		return true
	}
	e.refusals = 0
	e.lessened++
	return e.lessened < lessNothing
}

// isLast tells whether the end is to be written even if the task has retries left.
func (e *end) isLast() bool { return e.failure() == nil || e.final || e.lessened >= lessState }

// told are the output and the notice, as they are to be written.
func (e *end) told(encoding string) (output, notice *string) {
	if e.result == nil || e.lessened >= lessShort {
		return nil, nil
	}
	output, notice = stored(e.result.Output, encoding), stored(e.result.Notice, encoding)
	if e.lessened == lessASCII {
		return plain(output), plain(notice)
	}
	return output, notice
}

// shown is a failure as it is to be written.
func (e *end) shown(failure *exec.Failure, encoding string) (text, sqlstate *string) {
	if failure == nil || e.lessened >= lessState {
		return nil, nil
	}
	switch e.lessened {
	case lessASCII:
		return plain(&failure.Text), &failure.SQLState
	case lessShort:
		text := exec.ASCII(failure.Text)
		text = strings.TrimRight(text[:min(len(text), shortMost)], "\n\t")
		return &text, &failure.SQLState
	case lessTiny:
		text := tinyError
		return &text, &failure.SQLState
	}
	return stored(&failure.Text, encoding), &failure.SQLState
}

// stored is a text as the database can store it; nil stays nil.
func stored(text *string, encoding string) *string {
	if text == nil || encoding == "UTF8" {
		return text
	}
	s := exec.Stored(*text, encoding)
	return &s
}

func plain(text *string) *string {
	if text == nil {
		return nil
	}
	s := exec.ASCII(*text)
	return &s
}

// leaveAlone gives up a row that takes no end at all. It stays as it is for as long as we lead, and its lane is free.
func (l *loop) leaveAlone(e end, err error) {
	l.log.Error().Err(err).Int64("id", e.task.row.ID).Msg("the table refuses every end of a task: its row stays as it is, and the task may run again when another controller leads. " +
		"Mend what refuses it, and set the row's state")
	l.hopeless[e.task.row.ID] = time.Time{}
	l.gone(e)
}
