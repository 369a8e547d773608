package target

import (
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// Kept are the states in which a task has ended, in the order in which statements take them.
var Kept = [...]string{"DONE", "FAIL", "GONE", "STOP"}

// Keep says how long ended tasks are kept, by state. Those of a state that it lacks are kept for
// ever.
type Keep map[string]schedule.Interval

// Ages are the times as statements take them.
func (k Keep) Ages() []pgtype.Interval {
	ages := make([]pgtype.Interval, len(Kept))
	for i, state := range Kept {
		age, ok := k[state]
		ages[i] = pgtype.Interval{Months: int32(age.Months), Days: int32(age.Days), Microseconds: age.Micros, Valid: ok}
	}
	return ages
}
