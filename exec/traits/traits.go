package traits

// Traits is what can be told of an input without a server. A trait that is in doubt is set: the
// price is a task that is marked before it starts, while one that is missed costs a second run.
type Traits struct {
	// Empty: nothing but blanks, comments and semicolons.
	Empty bool
	// Control: a statement ends the transaction it runs in (COMMIT, END, ROLLBACK but not ROLLBACK
	// TO, ABORT, PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED).
	Control bool
	// NoTransaction: a statement does not run inside a transaction block (VACUUM, CREATE DATABASE,
	// CONCURRENTLY …).
	NoTransaction bool
	// Isolation: an isolation level is named.
	Isolation bool
	// Modes: the mode of the transaction may be chosen (SET TRANSACTION, BEGIN READ WRITE), which
	// some allow only before the first snapshot.
	Modes bool
	// Stdin: COPY may ask for data; no other query may wait after such an input.
	Stdin bool
	// Rollbacks: how many statements return to a savepoint; their tag is that of a ROLLBACK.
	Rollbacks int
	// Notifies: it sends notifications, which leave no mark in the transaction until it commits.
	Notifies bool
	// Calls: a procedure is called, which may end the transaction.
	Calls bool
	// Outside: something leaves the transaction by itself (COPY to a file or program, dblink, HTTP,
	// sequences …).
	Outside bool
	// Reads: all statements are queries (SELECT, VALUES, TABLE, WITH, SHOW). What they call may
	// write all the same.
	Reads bool
	// Inert: it has nothing that users can make, so it does nothing to its session.
	Inert bool
	// Shape is the same for inputs that differ in nothing but numbers, strings, blanks and
	// comments, while the process lasts.
	Shape uint64
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Pipelines tells whether other tasks may be sent after this input: it has only queries, chooses
// nothing for its transaction, and leaves nothing that could tell or disturb the tasks after it.
func (t Traits) Pipelines() bool {
	return t.Reads && !t.Isolation && !t.Modes && !t.Notifies && !t.Outside && !t.Stdin
}
