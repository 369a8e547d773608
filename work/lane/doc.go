// Package lane decides which task of a target is read next and which task starts next. The package
// is pure: it uses no database and no session, and knows a task only by its Ticket.
//
// Lanes is the entry. It joins these types, and each owns one kind of state:
//   - Slots: the slots of the target.
//   - Limits and groups: pauses, slots and rates of groups.
//   - gates: remotes that must be tried before their tasks may start.
//   - readySet and prefetchedSet: tasks that wait in lanes.
//   - order: which lane comes next.
//   - index: the lanes by their keys.
//
// A ready task is due, in memory and not yet sent. Once its row has been read, it counts as
// prefetched and no longer as ready. Add makes a task ready, Choose picks its id to be read,
// Prefetched adds its row, Start (or Follow, Queue, Pass, Tryout) hands it out, and Ended gives its
// slots back. Unread and Enter make it ready again. All times are the server's, but our own clock
// measures the age of a prefetched task. Only the loop reads tasks and fills; runners start and end
// tasks.
//
// Each method of Lanes holds the lock of Lanes throughout and never waits. The lock guards all
// types and the unexported fields of a Ticket; Slots and Limits say who else may call them. The
// functions of a caller (fits, and the clock) run under the lock, so they must not call Lanes.
package lane
