package exec

import "hash/maphash"

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
	// Stdin: COPY may ask for data; no other query may wait behind such an input.
	Stdin bool
	// Rollbacks: how many statements return to a savepoint; their tag is that of a ROLLBACK.
	Rollbacks int
	// Prepared: a statement takes prepared statements away (DEALLOCATE), or the view that shows
	// them is named.
	Prepared bool
	// Limits: statement_timeout is named, by which the SQL may limit what we send behind it.
	Limits bool
	// Notifies: it sends notifications, which leave no mark in the transaction until it commits.
	Notifies bool
	// Alters: something is altered, such as the table of the tasks.
	Alters bool
	// Calls: a procedure is called, which may end the transaction.
	Calls bool
	// Outside: something leaves the transaction by itself (COPY to a file or program, dblink, HTTP,
	// sequences …).
	Outside bool
	// Reads: all statements are queries (SELECT, VALUES, TABLE, WITH, SHOW). What they call may
	// write all the same.
	Reads bool
	// Plain: one query, INSERT, UPDATE or DELETE whose plan serves another run of it, as nothing in
	// it is read but by the parser, and says nothing. It begins with no WITH, which may hold the
	// rows of a rule.
	Plain bool
	// Inert: nothing in it can be made by anybody but the server's makers, so that it does nothing
	// to its session.
	Inert bool
	// Shape is the same for inputs that differ in nothing but numbers, strings, blanks and
	// comments, while the process lasts.
	Shape uint64
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Examine finds the traits of an input in time linear in its length.
//
// It looks at words outside strings, comments and quoted names, and into the body of DO. What an
// input calls (a function or procedure, a trigger, a foreign table) it cannot see.
func Examine(input string) Traits {
	e := examiner{lexer: lexer{input: input}, traits: Traits{Empty: true, Reads: true, Inert: true}}
	e.shape.SetSeed(shapes)
	e.run()
	e.traits.Reads = e.traits.Reads && !e.traits.Empty
	e.traits.Plain = !e.traits.Empty && e.statements == 1 && !e.varies
	e.traits.Shape = e.shape.Sum64()
	if !e.doubtful {
		return e.traits
	}
	other := examiner{lexer: lexer{input: input, backslash: true}}
	other.run()
	return Traits{
		Control:       e.traits.Control || other.traits.Control,
		NoTransaction: e.traits.NoTransaction || other.traits.NoTransaction,
		Isolation:     e.traits.Isolation || other.traits.Isolation,
		Modes:         e.traits.Modes || other.traits.Modes,
		Stdin:         e.traits.Stdin || other.traits.Stdin,
		Rollbacks:     min(e.traits.Rollbacks, other.traits.Rollbacks),
		Prepared:      e.traits.Prepared || other.traits.Prepared,
		Limits:        e.traits.Limits || other.traits.Limits,
		Notifies:      e.traits.Notifies || other.traits.Notifies,
		Alters:        e.traits.Alters || other.traits.Alters,
		Calls:         e.traits.Calls || other.traits.Calls,
		Outside:       e.traits.Outside || other.traits.Outside,
		Shape:         e.traits.Shape, // and in doubt nothing is said of Reads, Plain and Inert
	}
}

var shapes = maphash.MakeSeed()
