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
	adjacent  keyword // the previous token's, 0 when it was no keyword
	routine   bool    // inside BEGIN ATOMIC … END, where the first word END ends the body and no transaction
	block     bool    // inside the body of DO, where COMMIT may stand behind any word
	shape     maphash.Hash
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
	if t.kind == tokenOpen {
		return true
	}
	return t.kind == tokenWord && slices.ContainsFunc([]string{"select", "values", "table", "with", "show"},
		func(word string) bool {
			return strings.EqualFold(word, t.text)
		})
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
	}
}

func (e *examiner) word(before, word keyword) {
	switch word {
	case wordIsolation, wordSerializable, wordRepeatable:
		e.traits.Isolation, e.traits.Modes = true, true
	case wordTransaction, wordRead, wordDeferrable:
		e.traits.Modes = true
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

// endStatement judges the statement that a semicolon or the end of the input has completed.
// Semicolons inside parentheses (CREATE RULE) and routine bodies count too: nothing that is allowed
// there is mistaken for more.
func (e *examiner) endStatement() {
	s := e.statement
	e.statement = statement{}
	e.adjacent = wordNone
	e.traits.Outside = e.traits.Outside || s.has(wordCopy) && s.has(wordProgram)
	if !e.block { // there END and the like are words of a procedural language
		e.traits.Control = e.traits.Control || s.control()
		e.traits.NoTransaction = e.traits.NoTransaction || s.noTransaction()
	}
}

// examineBlock looks into the body of a DO statement.
func (e *examiner) examineBlock(body string) {
	inner := examiner{lexer: lexer{input: body}, traits: e.traits, block: true}
	inner.run()
	e.traits = inner.traits
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

// noTransaction knows the statements that PostgreSQL 12 to 18 refuse in a transaction block. Some
// of them it refuses only in some forms that the words do not show: VACUUM, CLUSTER and
// SUBSCRIPTION are here in all forms, REINDEX of a partitioned table is left to the server.
func (s statement) noTransaction() bool {
	switch s.first[0] {
	case wordVacuum, wordCluster:
		return true
	case wordCreate, wordDrop:
		return s.first[1] == wordDatabase || s.first[1] == wordTablespace || s.has(wordConcurrently) ||
			s.first[1] == wordSubscription
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
