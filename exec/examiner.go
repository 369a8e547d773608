package exec

import (
	"hash/maphash"
	"slices"
	"strings"
)

// examiner reads one input and gathers its traits.
type examiner struct {
	lexer
	traits    Traits
	statement statement
	previous  token
	adjacent  string // the previous token in small letters, if it was a word
	routine   bool   // inside BEGIN ATOMIC … END, where the first word END ends the body and no transaction
	block     bool   // inside the body of DO, where COMMIT may stand behind any word
	shape     maphash.Hash
}

// statement is what is known of the statement that is being read.
type statement struct {
	begun  bool
	words  int // read so far
	first  [3]string
	within []string // those of them that count wherever they are, once each
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
			e.traits.Outside = true // to a file of the server's
		}
	}
}

// name knows the settings that count when they are quoted: SET "transaction_isolation".
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
	case "stdout": // the server takes COPY FROM STDOUT for FROM STDIN
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

// endStatement judges the statement that a semicolon or the end of the input has completed.
// Semicolons inside parentheses (CREATE RULE) and routine bodies count too: nothing that is allowed
// there is mistaken for more.
func (e *examiner) endStatement() {
	s := e.statement
	e.statement = statement{}
	e.adjacent = ""
	e.traits.Outside = e.traits.Outside || s.has("copy") && s.has("program")
	if !e.block { // there END and the like are words of a procedural language
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

// noTransaction knows the statements that PostgreSQL 12 to 18 refuse in a transaction block. Some
// of them it refuses only in some forms that the words do not show: VACUUM, CLUSTER and
// SUBSCRIPTION are here in all forms, REINDEX of a partitioned table is left to the server.
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
