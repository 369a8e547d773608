// Package lane decides which task of a target is read next and which one starts next. It is pure
// bookkeeping: it knows no database, no session and no task, only a Ticket for each.
//
// Each type owns its state: Slots those of the target, Limits and groups the pauses, slots and
// rates of groups, gates what stands before remotes, order which lane comes next, ready and
// prefetched what waits in lanes, index the lanes by their keys. Lanes wires them.
//
// Ready means: due, in memory, not yet sent. A ready task whose row has been read is prefetched,
// and counts as that alone. The way of a task: Add makes it ready, Choose picks its id to be read,
// Prefetched brings its row, Start (or Follow, Queue, Pass, Tryout) hands it out, and Ended gives
// its slots back. Unread and Enter make it ready again. Times are the server's; only the age of
// what was read is measured by our own clock. The loop alone reads and fills; runners start and end
// tasks.
//
// Each method of Lanes holds its lock from beginning to end, and waits for nothing. The lock guards
// all types (Slots and Limits say who may call them), and the marks in a Ticket. The functions that
// a caller passes (fits, and the clock) run under it: they must not call Lanes.
package lane
