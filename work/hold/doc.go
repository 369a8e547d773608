// Package hold decides how long to wait before something is tried again. Holds has the tasks that
// must wait, and why; Backoff is the wait of a single end or mark. One table, backoffs, has the
// waits for all reasons. Tries counts how often tasks had to run again, and Sizer limits how many
// rows the next statement changes.
//
// The package uses no server. Everything belongs to the goroutine of the loop, except the Backoffs
// of package pool, which its lock guards. Times are of our own clock: they only say when to try
// again.
package hold
