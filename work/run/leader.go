package run

import (
	"context"

	"pgtaskd/exec"
)

// Leader is all that runners see of the one who leads the target. Outcome returns at once. The
// others wait until the leader has been at the server, and answer no when ctx ends.
type Leader interface {
	// Outcome tells what was seen of a task that the runner has done with.
	Outcome(o Outcome)
	// Mark has the row show WORK for the session with that process id, before the task starts.
	Mark(ctx context.Context, t *Task, pid int32) Answer
	// Text brings a long text of the row, or its names.
	Text(ctx context.Context, t *Task, which Text) Answer
	// Leads tells whether it leads, as the server says after the question.
	Leads(ctx context.Context) bool
}

// Text names what the leader is to bring.
type Text int

// What a leader brings.
const (
	Names Text = iota // with the sizes of the texts
	Input
	Data
	Image // of the row, which the end compares
)

// Answer is what the leader says.
type Answer struct {
	OK      bool
	Refused *exec.Failure // the row does not take the mark, or the text cannot be read
	Sizes   *Sizes
	Text    *string // nil: it is too long by now, or there is none
}
