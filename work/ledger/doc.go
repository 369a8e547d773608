// Package ledger tells the table of the tasks what has become of runs: that one runs (a mark),
// which transaction it is about to commit (a preparation), and that it has ended well. It writes
// all that has come in one statement a round.
//
// The queue is pure: it says what to write next, and what follows from an answer. A Ledger puts it
// to work: on a connection of its own while there is much to write or somebody waits for it, or
// else on the loop's, when the loop calls Step. Entries that it cannot write (a row that takes no end, a
// failure, a task that something follows) it passes over, and others look closer.
//
// No preparation waits long for a lock: the run that waits for it may have that lock itself, and
// the server sees no deadlock there.
//
// Any goroutine may call Put, Len, Place and Follow. Begin, Step, Next and Stop belong to the loop.
// The connection of its own has a goroutine of its own, which Put starts and Stop awaits.
//
// Locks: mu guards the queue. It is held while entries are told their answers, never across a
// statement. writes is held for a round, so that there is one at a time; it comes before mu.
package ledger
