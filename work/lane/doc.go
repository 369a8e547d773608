// Package lane decides which task of a target is read next and which one starts next. It is pure
// bookkeeping: it knows no database, no session and no task, only a Ticket for each.
//
// It owns the lanes (all tasks with one group and one remote), the slots in use, what is ready,
// what is prefetched, the pauses, and the gates before remotes. Ready means: due, in memory, not
// yet sent. A ready task whose row has been read is prefetched, and counts as that alone. Times are
// the server's, by the clock that New is given; only the age of what was read is measured by our
// own clock.
//
// The way of a task: Add makes it ready, Choose picks its id to be read, Prefetched brings what the
// read has found, Start (or Search, Follow, Queue, Pass, Tryout) hands it out, and Ended gives its
// slots back. Unread and Enter make it ready again.
//
// Package work calls it. The loop alone reads and fills: Choose, Prefetched, Fill, Filled, Add,
// Unread, Pace. Every method may be called from any goroutine, since runners start and end tasks.
//
// Locks: each method holds Lanes.mu from its beginning to its end, and waits for nothing. It also
// guards the marks that Lanes keeps in a Ticket. The functions that a caller passes (fits, and the
// clock) run under it: they must not call Lanes.
package lane
