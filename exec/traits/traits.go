package traits

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Traits are the properties of an input that show without a server. In doubt a trait is set: a
// trait too many costs a mark before the start, a missed trait costs a second run.
type Traits struct {
	Empty         bool   // only blanks, comments and semicolons
	Control       bool   // a statement ends its transaction: COMMIT, ROLLBACK without TO, PREPARE TRANSACTION …
	NoTransaction bool   // a statement can't run in a transaction block: VACUUM, CREATE DATABASE, CONCURRENTLY …
	Isolation     bool   // it may choose an isolation level
	Modes         bool   // it may choose a transaction mode: some modes must be set before the first snapshot
	Stdin         bool   // COPY may ask for data, so nothing may be sent after the input
	Rollbacks     int    // number of statements that return to a savepoint; they have the tag of a ROLLBACK
	Notifies      bool   // it sends notifications, which give the transaction no id before it commits
	Calls         bool   // it calls a procedure, which may end the transaction
	Outside       bool   // a rollback can't undo all effects: COPY to a file, dblink, HTTP, sequences …
	Reads         bool   // all statements are queries; functions that they call may still write
	Inert         bool   // it uses nothing that users can create, so it does not change its session
	Shape         uint64 // equal, within this process, for inputs that differ only in values, blanks and comments
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Pipelines tells whether other tasks may be sent after this input: it has only queries, chooses
// neither isolation level nor mode, and has no effect that the question after it can't see.
func (t Traits) Pipelines() bool {
	return t.Reads && !t.Isolation && !t.Modes && !t.Notifies && !t.Outside && !t.Stdin
}

// Examine finds the traits of an input, in time linear in its length.
//
// It looks at words outside strings, comments and quoted names, and into the body of DO. It cannot
// look into functions, procedures, triggers and foreign tables that the input uses.
func Examine(input string) Traits {
	e := examiner{lexer: lexer{input: input}, traits: Traits{Empty: true, Reads: true, Inert: true}}
	e.shape.SetSeed(shapes)
	e.run()
	e.traits.Reads = e.traits.Reads && !e.traits.Empty
	e.traits.Shape = e.shape.Sum64()
	return e.traits
}

var shapes = maphash.MakeSeed()

// examiner reads one input and collects its traits.
type examiner struct {
	lexer
	traits    Traits
	statement statement
	previous  token
	adjacent  string // the previous token in lower case, if it was a word
	routine   bool   // inside BEGIN ATOMIC … END: a statement END ends the body, not the transaction
	block     bool   // inside the body of DO: COMMIT may come after any word
	shape     maphash.Hash
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
			}
			e.statement.begun = true
			e.traits.Inert = e.traits.Inert && e.inert(t)
			e.examine(t)
		}
		t.addTo(&e.shape)
		e.previous = t
	}
}

// queries tells whether a statement that begins with this token is a query.
func (t token) queries() bool {
	switch strings.ToLower(t.text) {
	case "select", "values", "table", "with", "show":
		return t.kind == tokenWord
	}
	return t.kind == tokenOpen
}

func (e *examiner) examine(t token) {
	before := e.adjacent
	e.adjacent = ""
	switch t.kind {
	case tokenWord:
		e.adjacent = strings.ToLower(t.text)
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
		case e.statement.first[0] == "do" && !e.block:
			e.examineBlock(t.text)
		case e.statement.has("copy") && before == "to":
			e.traits.Outside = true // COPY to a file on the server
		}
	}
}

// name looks for settings with quoted names: SET "transaction_isolation".
func (e *examiner) name(name string) {
	switch strings.ToLower(name) {
	case "isolation", "default_transaction_isolation", "transaction_isolation":
		e.traits.Isolation, e.traits.Modes = true, true
	case "read", "transaction_read_only", "deferrable", "transaction_deferrable":
		e.traits.Modes = true
	}
}

func (e *examiner) word(before, word string) {
	s := &e.statement
	switch word {
	case "isolation", "default_transaction_isolation", "transaction_isolation", "serializable", "repeatable":
		e.traits.Isolation, e.traits.Modes = true, true
	case "transaction", "read", "transaction_read_only", "deferrable", "transaction_deferrable":
		e.traits.Modes = true
	case "notify", "pg_notify":
		e.traits.Notifies = true
	case "call":
		e.traits.Calls = true
	case "stdin":
		e.traits.Stdin = true
	case "stdout": // the server reads COPY FROM STDOUT as FROM STDIN
		e.traits.Stdin = e.traits.Stdin || before == "from"
	case "commit", "rollback":
		e.traits.NoTransaction = e.traits.NoTransaction || e.block
	case "atomic":
		if before == "begin" && e.statement.first[0] == "create" {
			e.endStatement()
			e.routine = true
			return
		}
	case "end":
		if e.routine && e.statement.words == 0 {
			e.routine = false
			word = ""
		}
	case "copy", "program", "concurrently", "tablespace", "database", "system", "schema":
		if !s.has(word) {
			s.within = append(s.within, word)
		}
	}
	if s.words < len(s.first) {
		s.first[s.words] = word
	}
	s.words++
}

// endStatement sets the traits of a statement that a semicolon or the end of the input has ended. A
// semicolon inside parentheses (CREATE RULE) or a routine's body counts too: no statement that is
// allowed there looks like one that sets these traits.
func (e *examiner) endStatement() {
	s := e.statement
	e.statement = statement{}
	e.adjacent = ""
	e.traits.Outside = e.traits.Outside || s.has("copy") && s.has("program")
	if !e.block { // in a block, END and the like belong to a procedural language
		e.traits.Control = e.traits.Control || s.control()
		e.traits.NoTransaction = e.traits.NoTransaction || s.noTransaction()
		if s.rollbackTo() {
			e.traits.Rollbacks++
		}
	}
}

// examineBlock looks into the body of a DO statement.
func (e *examiner) examineBlock(body string) {
	inner := examiner{lexer: lexer{input: body}, traits: e.traits, block: true}
	inner.run()
	e.traits = inner.traits
}

// inert tells whether the input can still be inert with this token: it has only constants, lists of
// constants and column names. Users can create operators, types, functions and relations.
func (e *examiner) inert(t token) bool {
	named := e.previous.kind == tokenWord && strings.EqualFold(e.previous.text, "as")
	switch t.kind {
	case tokenWord:
		return named || constantWord(t.text)
	case tokenName:
		return named
	case tokenOpen:
		return !named && (e.previous.kind != tokenWord && e.previous.kind != tokenName || constantWord(e.previous.text))
	case tokenString:
		return e.previous.kind != tokenWord && e.previous.kind != tokenName || constantWord(e.previous.text)
	case tokenOther:
		return strings.Trim(t.text, "0123456789., )\t\n\r") == ""
	}
	return t.kind == tokenEnd || t.kind == tokenSemicolon
}

// statement records what the examiner knows of the current statement.
type statement struct {
	begun  bool
	words  int // number of words so far
	first  [3]string
	within []string // words that count at any place, once each
}

func (s statement) has(any ...string) bool {
	return slices.ContainsFunc(s.within, func(word string) bool { return slices.Contains(any, word) })
}

func (s statement) control() bool {
	switch s.first[0] {
	case "commit", "end", "abort":
		return true
	case "rollback":
		return !s.rollbackTo()
	case "prepare":
		return s.first[1] == "transaction"
	}
	return false
}

func (s statement) rollbackTo() bool {
	noise := s.first[1] == "work" || s.first[1] == "transaction"
	return s.first[0] == "rollback" && (s.first[1] == "to" || noise && s.first[2] == "to")
}

// noTransaction tells whether PostgreSQL 12 to 18 refuse the statement in a transaction block. They
// refuse only some forms of some statements, and the words do not show which: noTransaction returns
// true for every VACUUM, CLUSTER and SUBSCRIPTION, and false for REINDEX of a partitioned table.
func (s statement) noTransaction() bool {
	switch s.first[0] {
	case "vacuum", "cluster":
		return true
	case "create", "drop":
		return s.first[1] == "database" || s.first[1] == "tablespace" || s.has("concurrently") ||
			s.first[1] == "subscription"
	case "alter":
		return s.first[1] == "system" || s.first[1] == "subscription" || s.has("concurrently") ||
			s.first[1] == "database" && s.has("tablespace")
	case "reindex":
		return s.has("database", "system", "schema", "concurrently")
	case "discard":
		return s.first[1] == "all"
	}
	return false
}

// Functions whose effects a rollback does not undo. They act on other sessions and servers (dblink,
// background workers, HTTP, cloud services, mail), files, sequences, replication slots and the
// server itself. Schema names are ignored.
var (
	outsideNames = map[string]bool{
		"nextval": true, "setval": true, "lo_export": true, "query_export_to_s3": true,
		"http": true, "http_get": true, "http_head": true, "http_post": true, "http_put": true,
		"http_patch": true, "http_delete": true,
		"pg_terminate_backend": true, "pg_cancel_backend": true, "pg_reload_conf": true, "pg_rotate_logfile": true,
		"pg_promote": true, "pg_switch_wal": true, "pg_wal_replay_pause": true, "pg_wal_replay_resume": true,
		"pg_backup_start": true, "pg_backup_stop": true, "pg_start_backup": true, "pg_stop_backup": true,
		"pg_drop_replication_slot": true, "pg_sync_replication_slots": true,
	}
	outsidePrefixes = []string{
		"dblink", "pg_background_", "pg_file_", "pg_create_", "pg_copy_", "pg_logical_", "pg_replication_",
		"aws_", "utl_",
	}
)

func outsideFunction(name string) bool {
	name = strings.ToLower(name)
	return outsideNames[name] || slices.ContainsFunc(outsidePrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

func constantWord(word string) bool {
	switch strings.ToLower(word) {
	case "select", "values", "as", "null", "true", "false":
		return true
	}
	return false
}
