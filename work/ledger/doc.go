// Package ledger writes into the task table how runs are going: that a task runs (a mark), which
// transaction is about to commit (a preparation), and that a run has ended well. One statement, a
// round, writes everything that waits.
//
// The Queue is pure: it decides what to write next, and what follows from each answer. The Ledger
// runs the rounds, in two lines: preparations that must be on the disk, of runs on remotes, and all
// else. A line has a connection of its own while there is much to write or a session waits; otherwise
// it uses the loop's, when the loop calls Step. The ledger passes over a row that is locked, was
// changed, refuses the entry, or has something that follows on its end: the loop has other
// statements for these.
//
// A preparation never waits long for a lock: the run that waits for it may hold that lock itself,
// and the server cannot see that deadlock.
//
// Any goroutine may call Put, Len, Place and Follow. Begin, Step, Next and Stop belong to the loop.
// The connection of a line belongs to a goroutine that Put starts and Stop awaits.
//
// Locks: mu guards the queue. It is held while entries get their answers, never across a statement.
// writes is held during a round, so that only one runs at a time; it is locked before mu.
package ledger
