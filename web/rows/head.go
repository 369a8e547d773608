package rows

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"
)

// Head says how a target is led.
type Head struct {
	Target string             `json:"target"`
	Zone   string             `json:"zone"`   // of the target; "": not known
	Leader string             `json:"leader"` // host and process id; "": nobody leads, or nobody can tell
	Since  pgtype.Timestamptz `json:"since"`
	Fault  string             `json:"fault"` // last fault of this controller; or why the table cannot be read
	Paused []Pause            `json:"paused"`
}

// Pause is a row of the table of groups that pauses tasks.
type Pause struct {
	Group string             `json:"group" db:"group"`
	Until pgtype.Timestamptz `json:"until" db:"until"`
	Note  *string            `json:"note" db:"note"`
	By    *string            `json:"changed_by" db:"changed_by"`
}

// Head returns how the table is led and what is paused.
func (b *Table) Head(ctx context.Context) (Head, error) { return Head{}, nil }
