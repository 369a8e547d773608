package ledger

import "pgtaskd/exec/fault"

// Class is what an error of the server's means for a row.
type Class int

// The classes.
const (
	Refuses   Class = iota // the row, or the table, does not take it
	Blocked                // it has waited for a lock in vain
	Conflicts              // it may go well the next time, unless it is the table's own doing
	Passing                // it goes well some day, as far as can be told
)

// classOf tells what an error of the server's means for the rows of a round; ok is false when it ends
// the connection.
func classOf(err error) (class Class, ok bool) {
	switch of := fault.Of(err); {
	case of == fault.None, of == fault.Lost:
		return Refuses, false
	case fault.Has(err, "55P03"): // whoever says so
		return Blocked, true
	case of == fault.Crossed, of == fault.Deadlocked:
		return Conflicts, true
	case of == fault.QueueFull, of == fault.Outdated, fault.OfServer(err):
		return Passing, true
	}
	return Refuses, true
}
