package run

import (
	"errors"
	"strings"

	"pgtaskd/exec"
)

// InTheWay tells an error that is no fault of the task's: another transaction was in the way of its
// end.
func InTheWay(f *exec.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03" || f.KeyWaits())
}

// refusesForGood tells that a trigger or a policy of the table has refused an end: another run
// would meet it as well. That the role lacks a right to the table itself is told by the server's
// routine.
func refusesForGood(f *exec.Failure) bool {
	if f == nil {
		return false
	}
	switch f.SQLState {
	case "42501":
		return !f.Direct("42501", "aclcheck_error")
	case "42P01", "42703", "3F000":
		return f.Indirect()
	}
	return false
}

// Refusal is what a task's row shows when it did not take its own end.
func Refusal(f *exec.Failure) *exec.Failure {
	if f == nil || f.Missed() {
		return exec.NewFailure("task was changed while it ran", "55000",
			"DETAIL", "Its own SQL, or a trigger or policy of the table, has changed its row so that its end could not be written; its effects are rolled back.")
	}
	switch {
	case f.KeyWaits():
		return exec.NewFailure("another task has come to wait with the key of the repetition", "40001")
	case f.LeftOut():
		return NotRepeated()
	case f.Exhausted():
		return Unnumbered(strings.TrimPrefix(f.Text, "ERROR:  "+UnwrittenEnd))
	}
	return &exec.Failure{Text: f.Text, SQLState: f.SQLState}
}

// Unnumbered is the error of a task whose repetition has no id, as the server says of the sequence.
func Unnumbered(why string) *exec.Failure {
	return exec.NewFailure("the repetition of the task could not be made: "+why, "2200H",
		"DETAIL", "It takes an id from the sequence; the effects of the task are rolled back where they can be.",
		"HINT", "Raise the sequence's MAXVALUE, or set it back: ALTER SEQUENCE … MAXVALUE …. Then set the task to PLAN.")
}

// UnwrittenEnd is how exec begins the error of an end that was refused.
const UnwrittenEnd = "the end of the task could not be written: "

// NotRepeated is the error of a task whose repetition has not come about.
func NotRepeated() *exec.Failure {
	return exec.NewFailure("the repetition of the task was left out", "55000",
		"DETAIL", "A trigger or policy of the table has left its row out; the effects of the task are rolled back.")
}

// lostFailure is the error of a session that is gone.
func lostFailure(err error, t *Task) *exec.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return gone.Failure(*t.Row.Input)
	}
	if broken(err) {
		return exec.NewFailure("the server has broken the protocol while the task ran", "08P01", "DETAIL", gone.Cause.Error(), "STATEMENT", *t.Row.Input)
	}
	return exec.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", *t.Row.Input)
}

// broken tells the loss of a session whose server does not keep to the protocol from that of a
// connection.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}

// Stored is a text as the database can store it; nil stays nil.
func Stored(text *string, encoding string) *string {
	if text == nil || encoding == "UTF8" {
		return text
	}
	s := exec.Stored(*text, encoding)
	return &s
}
