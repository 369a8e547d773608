package rows

import (
	"github.com/jackc/pgx/v5/pgtype"
)

// Filter selects tasks. A field that is not set selects all. All are equalities on whole values,
// but for the times and Text.
type Filter struct {
	States []string // in capitals
	Group  string
	Key    string
	ID     pgtype.Int8
	Since  pgtype.Timestamptz // of plan
	Until  pgtype.Timestamptz // plan is before it
	Text   string             // in input, data or error, in small or capital letters
	Hidden Hidden             // columns that are not searched

	SQLState string // "none": NULL
	Error    string // its first line, as it is shown, of which 200 characters count
}

// States are the states of a task.
var States = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// Waiting are the states of tasks that wait or run: those with a due time.
var Waiting = []string{"PLAN", "TAKE", "WORK"}

// Args returns the parameters of sql/part/page_filter.sql, $1 to $11.
func (f *Filter) Args() []any {
	var states any
	if len(f.States) > 0 {
		states = f.States
	}
	return []any{states, optional(f.Group), optional(f.Key), f.ID, f.Since, f.Until, optional(f.Text), f.Hidden.Input, f.Hidden.Data, optional(f.SQLState), optional(f.Error)}
}

func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}
