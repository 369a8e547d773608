package traits

// Traits is what can be told of an input without a server. A trait that is in doubt is set: the
// price is a task that is marked before it starts, while one that is missed costs a second run.
type Traits struct {
	Empty         bool   // nothing but blanks, comments and semicolons
	Control       bool   // a statement ends its transaction: COMMIT, ROLLBACK but not TO, PREPARE TRANSACTION …
	NoTransaction bool   // a statement does not run inside a transaction block: VACUUM, CREATE DATABASE, CONCURRENTLY …
	Isolation     bool   // an isolation level is named
	Modes         bool   // the transaction's mode may be chosen, which some allow only before the first snapshot
	Stdin         bool   // COPY may ask for data; no other query may wait after the input
	Rollbacks     int    // how many statements return to a savepoint; their tag is that of a ROLLBACK
	Notifies      bool   // it sends notifications, which leave no mark in the transaction until it commits
	Calls         bool   // a procedure is called, which may end the transaction
	Outside       bool   // something leaves the transaction by itself: COPY to a file, dblink, HTTP, sequences …
	Reads         bool   // all statements are queries; what they call may write all the same
	Inert         bool   // it has nothing that users can make, so it does nothing to its session
	Shape         uint64 // the same, in this process, for inputs that differ in numbers, strings, blanks and comments
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Pipelines tells whether other tasks may be sent after this input: it has only queries, chooses
// nothing for its transaction, and leaves nothing that could tell or disturb the tasks after it.
func (t Traits) Pipelines() bool {
	return t.Reads && !t.Isolation && !t.Modes && !t.Notifies && !t.Outside && !t.Stdin
}
