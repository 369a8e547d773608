// Package change changes rows of the task table on the control connection, together with what
// follows: repetitions, tasks of on_fail, notifications. If the table refuses a change of many
// rows, the package changes fewer at a time, until the row that causes the error is alone. If a row
// is locked, it waits briefly and comes back later.
//
// It belongs to the goroutine of the loop, and returns what became of the rows as values.
package change
