// Package change changes rows of the task table on the control connection, together with what
// follows on that: repetitions, tasks of on_fail, notifications. If the table refuses a change of
// many rows, it changes fewer at a time, until the row in question stands alone; if somebody's lock
// is in the way, it waits briefly, and comes back later.
//
// It belongs to the goroutine of the loop, and returns what became of the rows as values.
package change
