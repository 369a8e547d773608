package exec

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Traits is what can be told of an input without a server. A trait that is in doubt is set: the price is a task that
// is marked before it starts, while one that is missed costs a second run.
type Traits struct {
	// Empty: nothing but blanks, comments and semicolons.
	Empty bool
	// Control: a statement ends the transaction it runs in (COMMIT, END, ROLLBACK but not ROLLBACK TO, ABORT,
	// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED).
	Control bool
	// NoTransaction: a statement does not run inside a transaction block (VACUUM, CREATE DATABASE, CONCURRENTLY …).
	NoTransaction bool
	// Isolation: an isolation level is named.
	Isolation bool
	// Modes: the mode of the transaction may be chosen (SET TRANSACTION, BEGIN READ WRITE), which some allow only before the first snapshot.
	Modes bool
	// Stdin: COPY may ask for data; no other query may wait behind such an input.
	Stdin bool
	// Rollbacks: how many statements return to a savepoint; their tag is that of a ROLLBACK.
	Rollbacks int
	// Prepared: a statement takes prepared statements away (DEALLOCATE), or the view that shows them is named.
	Prepared bool
	// Limits: statement_timeout is named, by which the SQL may limit what we send behind it.
	Limits bool
	// Notifies: it sends notifications, which leave no mark in the transaction until it commits.
	Notifies bool
	// Alters: something is altered, such as the table of the tasks.
	Alters bool
	// Calls: a procedure is called, which may end the transaction.
	Calls bool
	// Outside: something leaves the transaction by itself (COPY to a file or program, dblink, HTTP, sequences …).
	Outside bool
	// Reads: all statements are queries (SELECT, VALUES, TABLE, WITH, SHOW). What they call may write all the same.
	Reads bool
	// Plain: one query, INSERT, UPDATE or DELETE whose plan serves another run of it, as nothing in it is read but by the parser, and says nothing. It begins with no WITH, which
	// may hold the rows of a rule.
	Plain bool
	// Inert: nothing in it can be made by anybody but the server's makers, so that it does nothing to its session.
	Inert bool
	// Shape is the same for inputs that differ in nothing but numbers, strings, blanks and comments, while the process lasts.
	Shape uint64
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Examine finds the traits of an input in time linear in its length.
//
// It looks at words outside strings, comments and quoted names, and into the body of DO. What an input calls (a
// function or procedure, a trigger, a foreign table) it cannot see.
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

// examiner reads one input and gathers its traits.
type examiner struct {
	lexer
	traits    Traits
	statement statement
	previous  token
	adjacent  keyword // the previous token's, 0 when it was no keyword
	routine   bool    // inside BEGIN ATOMIC … END, where the first word END ends the body and no transaction
	block     bool    // inside the body of DO, where COMMIT may stand behind any word
	shape     maphash.Hash

	statements int  // begun so far
	varies     bool // something in it does from run to run
}

// statement is what is known of the statement that is being read.
type statement struct {
	begun  bool
	words  int // read so far
	first  [3]keyword
	within keywords
}

func (e *examiner) run() {
	for {
		t := e.token()
		switch t.kind {
		case tokenEnd:
			e.endStatement()
			return
		case tokenSemicolon:
			e.endStatement()
		default:
			e.traits.Empty = false
			if !e.statement.begun {
				e.traits.Reads = e.traits.Reads && t.queries()
				e.statements++
				e.varies = e.varies || !t.plans()
			}
			e.statement.begun = true
			e.varies = e.varies || t.varies()
			e.traits.Inert = e.traits.Inert && e.inert(t)
			e.examine(t)
		}
		t.addTo(&e.shape)
		e.previous = t
	}
}

// queries tells whether a statement that begins with this token is a query.
func (t token) queries() bool {
	if t.kind == tokenOpen {
		return true
	}
	return t.kind == tokenWord && slices.ContainsFunc([]string{"select", "values", "table", "with", "show"}, func(word string) bool {
		return strings.EqualFold(word, t.text)
	})
}

// plans tells whether a statement that begins with this token is one whose plan can be kept.
func (t token) plans() bool {
	if t.kind == tokenWord && slices.ContainsFunc([]string{"insert", "update", "delete"}, func(word string) bool { return strings.EqualFold(word, t.text) }) {
		return true
	}
	return t.queries() && !(t.kind == tokenWord && strings.EqualFold(t.text, "with"))
}

// addTo adds what is of the input's shape.
func (t token) addTo(shape *maphash.Hash) {
	_ = shape.WriteByte(byte(t.kind))
	switch t.kind {
	case tokenWord, tokenName, tokenCodedName:
		_, _ = shape.WriteString(t.text)
	case tokenOther:
		for _, b := range []byte(t.text) {
			if classes[b] != classDigit && classes[b] != classBlank {
				_ = shape.WriteByte(b)
			}
		}
	}
}

func (e *examiner) examine(t token) {
	before := e.adjacent
	e.adjacent = wordNone
	switch t.kind {
	case tokenWord:
		e.adjacent = keywordOf(t.text)
		e.word(before, e.adjacent)
	case tokenCodedName:
		e.traits.Outside = true
	case tokenName:
		e.name(t.text)
	case tokenOpen:
		if kind := e.previous.kind; (kind == tokenWord || kind == tokenName) && outsideFunction(e.previous.text) {
			e.traits.Outside = true
		}
	case tokenString:
		switch {
		case e.statement.first[0] == wordDo && !e.block:
			e.examineBlock(t.text)
		case e.statement.has(wordCopy) && before == wordTo:
			e.traits.Outside = true // to a file of the server's
		case strings.EqualFold(t.text, "statement_timeout"): // set_config
			e.traits.Limits = true
		}
	}
}

// name knows the settings that count when they are quoted: SET "transaction_isolation".
func (e *examiner) name(name string) {
	if name == "" {
		return
	}
	switch keywordOf(name) {
	case wordIsolation:
		e.traits.Isolation, e.traits.Modes = true, true
	case wordRead, wordDeferrable:
		e.traits.Modes = true
	case wordTimeout:
		e.traits.Limits = true
	}
}

func (e *examiner) word(before, word keyword) {
	switch word {
	case wordIsolation, wordSerializable, wordRepeatable:
		e.traits.Isolation, e.traits.Modes = true, true
	case wordTransaction, wordRead, wordDeferrable:
		e.traits.Modes = true
	case wordPrepared:
		e.traits.Prepared = true
	case wordTimeout:
		e.traits.Limits = true
	case wordNotify:
		e.traits.Notifies = true
	case wordCall:
		e.traits.Calls = true
	case wordStdin:
		e.traits.Stdin = true
	case wordStdout: // the server takes COPY FROM STDOUT for FROM STDIN
		e.traits.Stdin = e.traits.Stdin || before == wordFrom
	case wordCommit, wordRollback:
		e.traits.NoTransaction = e.traits.NoTransaction || e.block
	case wordAtomic:
		if before == wordBegin && e.statement.first[0] == wordCreate {
			e.endStatement()
			e.routine = true
			return
		}
	case wordEnd:
		if e.routine && e.statement.words == 0 {
			e.routine = false
			word = wordNone
		}
	}
	s := &e.statement
	if s.words < len(s.first) {
		s.first[s.words] = word
	}
	s.words++
	s.within |= 1 << word
}

// endStatement judges the statement that a semicolon or the end of the input has completed. Semicolons inside
// parentheses (CREATE RULE) and routine bodies count too: nothing that is allowed there is mistaken for more.
func (e *examiner) endStatement() {
	s := e.statement
	e.statement = statement{}
	e.adjacent = wordNone
	e.traits.Outside = e.traits.Outside || s.has(wordCopy) && s.has(wordProgram)
	e.traits.Alters = e.traits.Alters || s.has(wordAlter)
	if !e.block { // there END and the like are words of a procedural language
		e.traits.Control = e.traits.Control || s.control()
		e.traits.NoTransaction = e.traits.NoTransaction || s.noTransaction()
		e.traits.Prepared = e.traits.Prepared || s.first[0] == wordDeallocate
		if s.rollbackTo() {
			e.traits.Rollbacks++
		}
	}
}

// examineBlock looks into the body of a DO statement.
func (e *examiner) examineBlock(body string) {
	inner := examiner{lexer: lexer{input: body, backslash: e.backslash}, block: true}
	inner.run()
	e.doubtful = e.doubtful || inner.doubtful
	e.traits.NoTransaction = e.traits.NoTransaction || inner.traits.NoTransaction
	e.traits.Prepared = e.traits.Prepared || inner.traits.Prepared
	e.traits.Limits = e.traits.Limits || inner.traits.Limits
	e.traits.Notifies = e.traits.Notifies || inner.traits.Notifies
	e.traits.Isolation = e.traits.Isolation || inner.traits.Isolation
	e.traits.Modes = e.traits.Modes || inner.traits.Modes
	e.traits.Alters = e.traits.Alters || inner.traits.Alters
	e.traits.Calls = e.traits.Calls || inner.traits.Calls
	e.traits.Outside = e.traits.Outside || inner.traits.Outside
}

func (s statement) has(any ...keyword) bool {
	return slices.ContainsFunc(any, func(word keyword) bool { return s.within&(1<<word) != 0 })
}

func (s statement) control() bool {
	switch s.first[0] {
	case wordCommit, wordEnd, wordAbort:
		return true
	case wordRollback:
		return !s.rollbackTo()
	case wordPrepare:
		return s.first[1] == wordTransaction
	}
	return false
}

func (s statement) rollbackTo() bool {
	noise := s.first[1] == wordWork || s.first[1] == wordTransaction
	return s.first[0] == wordRollback && (s.first[1] == wordTo || noise && s.first[2] == wordTo)
}

// noTransaction knows the statements that PostgreSQL 12 to 18 refuse in a transaction block. Some of them it
// refuses only in some forms that the words do not show: VACUUM, CLUSTER and SUBSCRIPTION are here in all forms,
// REINDEX of a partitioned table is left to the server.
func (s statement) noTransaction() bool {
	switch s.first[0] {
	case wordVacuum, wordCluster:
		return true
	case wordCreate, wordDrop:
		return s.first[1] == wordDatabase || s.first[1] == wordTablespace || s.has(wordConcurrently) || s.first[1] == wordSubscription
	case wordAlter:
		return s.first[1] == wordSystem || s.first[1] == wordSubscription || s.has(wordConcurrently) ||
			s.first[1] == wordDatabase && s.has(wordTablespace)
	case wordReindex:
		return s.has(wordDatabase, wordSystem, wordSchema, wordConcurrently)
	case wordDiscard:
		return s.first[1] == wordAll
	}
	return false
}
