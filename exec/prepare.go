package exec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// chains tells whether a task can have the transaction that follows on that of the task before
// without a word (COMMIT AND CHAIN), which spares three statements. What precedes its SQL is part
// of it then: the settings fall with it when it rolls back, a snapshot is taken already, and its
// modes are those of the one before. So neither may an input end the transaction or choose its
// modes, nor have others done so.
func (s *Session) chains(tail *Tail, t *Task) bool {
	return tail != nil && t.Atomic && !t.Traits.Modes && s.usualModes && s.clean && !s.hard && !s.wary
}

// sendPrepare queues what makes the session ready for a task: reset, settings, and BEGIN. Unless
// the transaction is chained nothing takes a snapshot after that, so that the input may still
// choose its isolation level. The task must begin until then, unless that is zero.
func (s *Session) sendPrepare(t *Task, chained bool, until time.Time) (reset bool) {
	reset = s.needsReset(t.Keep)
	s.renewed = s.renewed || reset
	switch {
	case chained && reset:
		s.callAll(s.discard())
	case chained:
	case reset:
		s.sendReset()
	default:
		s.call(begin)
	}
	guard := 0
	if reset && s.clean {
		guard |= 1
	}
	if chained {
		guard |= 2
	}
	s.sendSettings(t, guard, reset || !s.dirty, until)
	s.sendApart(t, reset)
	if !chained {
		s.call(commit)
		if t.Atomic {
			s.plain("BEGIN") // were it another's, the task's SQL would commit by itself
		}
	}
	s.dirty = true
	s.usualModes = s.usualModes && !t.Traits.Modes
	return reset
}

// shown is what the session of a task shows, and the room in which that is made.
type shown struct {
	base    map[string]string // settings to which a reset returns
	ready   [32]*Statement    // set what a task shows: +1, +2 the usual as well; +4, +8, +16 with a guard
	texts   []byte            // of the parameters of such a statement, never nil
	values  [][]byte          // the parameters, parts of it
	formats []int16           // of each
}

// sendSettings queues what the session of the task shows, by a statement that tells the time, and
// guards what was before it. What is usual need not be said when the session is fresh.
func (s *Session) sendSettings(t *Task, guard int, fresh bool, until time.Time) {
	number := guard << len(t.Usual)
	settings := [1 + len(t.Usual)][][2]string{t.Settings}
	for i, usual := range t.Usual {
		if !fresh && len(usual) > 0 || !s.starts(usual) {
			number |= 1 << i
			settings[1+i] = usual
		}
	}
	s.texts, s.values, s.formats = s.texts[:0], s.values[:0], s.formats[:0]
	long := false
	for _, some := range settings {
		for _, setting := range some {
			if len(setting[1]) > textsKept {
				s.values, s.formats = append(s.values, bytesOf(setting[1])), append(s.formats, pgproto3.TextFormat)
				long = true
				continue
			}
			s.value(append(s.texts, setting[1]...), pgproto3.TextFormat)
		}
	}
	if !until.IsZero() {
		number |= 16
		s.value(appendMoment(s.texts, until), pgproto3.BinaryFormat) // to read it as text takes the server 4 µs
	}
	if s.ready[number] == nil {
		clause := guards[guard]
		if !until.IsZero() {
			clause += fmt.Sprintf(guardTime, len(s.values))
			if guard&1 != 0 { // it has not told us yet of what runs before
				clause += fmt.Sprintf(guardUser, Literal(s.user))
			}
		}
		s.ready[number] = readyFor(slices.Concat(settings[:]...), number, clause)
	}
	s.bind(s.parse(s.ready[number]), s.formats, s.values)
	if long || cap(s.texts) > textsKept {
		s.texts = []byte{}
		clear(s.values)
	}
	switch ms := (t.Timeout-1)/time.Millisecond + 1; {
	case t.Timeout > 0 && ms < 1<<31:
		s.plain("SET statement_timeout TO " + strconv.FormatInt(int64(ms), 10))
	case s.timeoutSet && !fresh:
		s.plain("RESET statement_timeout")
	}
}

// sendApart queues the settings that the task alone has, and takes those back that the one before
// had, where no reset does: one statement, however many there are, since settings can have the
// server say much about each. No row comes back, which would be taken for the time.
func (s *Session) sendApart(t *Task, reset bool) {
	var names, values [][]byte
	if !reset {
		for _, setting := range s.own {
			names, values = append(names, bytesOf(setting[0])), append(values, nil)
		}
	}
	for _, setting := range t.Own {
		names, values = append(names, bytesOf(setting[0])), append(values, bytesOf(setting[1]))
	}
	if s.own = t.Own; len(names) > 0 {
		s.bind(s.parse(apart), binaryFormat, [][]byte{textArray(names), textArray(values)})
	}
}

// apart sets each to its value in their order; one without a value goes back to what it was.
var apart = &Statement{SQL: `SELECT FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS s (name, value) ` +
	`WHERE pg_catalog.set_config(s.name, s.value, false) IS NULL`}

// textArray is an array of texts in the binary format, which no setting reads otherwise; nil is
// NULL.
func textArray(texts [][]byte) []byte {
	const oid = 25 // of text
	b := binary.BigEndian
	var array []byte
	for _, n := range []uint32{1, 1, oid, uint32(len(texts)), 1} { // dimensions, whether there may be NULLs, and from where they count
		array = b.AppendUint32(array, n)
	}
	for _, text := range texts {
		if text == nil {
			array = b.AppendUint32(array, 1<<32-1)
			continue
		}
		array = append(b.AppendUint32(array, uint32(len(text))), text...)
	}
	return array
}

// textsKept is the largest room that a session keeps for what its next tasks show, in bytes.
const textsKept = 16 << 10

// value adds a parameter of the statement that is being made, by which texts have become longer.
func (s *shown) value(texts []byte, format int16) {
	s.values = append(s.values, texts[len(s.texts):len(texts):len(texts)])
	s.texts, s.formats = texts, append(s.formats, format)
}

// starts tells whether the session has these settings from its start.
func (s *shown) starts(settings [][2]string) bool {
	for _, setting := range settings {
		if value, known := s.base[setting[0]]; !known || value != setting[1] {
			return false
		}
	}
	return true
}

// readyFor is the statement that sets these, in this order. It does not return them: we do not read
// before the input is sent, and large values could fill the way back while the input fills the way
// there.
func readyFor(settings [][2]string, number int, guard string) *Statement {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()" + guard)
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config(%s, $%d, false) IS NULL", Literal(setting[0]), i+1)
	}
	return &Statement{"pgtaskd_ready_" + strconv.Itoa(number), b.String()}
}

// The guards are what ends the preparation for a task, and raises an error if that is not enough: a
// reset, when the session is not clean any more or its role is another's; a chained transaction,
// when the one before has become one that only reads. Each function called costs half a
// microsecond. Who the session's user is the server tells us by itself.
const (
	stillClean = `pg_catalog.current_setting('plpgsql.variable_conflict', true) IS NULL ` +
		`AND pg_catalog.current_setting('role') OPERATOR(pg_catalog.=) 'none'`
	stillWrites = `pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'off'`
	guardReset  = `pg_catalog.pg_advisory_unlock_all(), 1 OPERATOR(pg_catalog./) (` + stillClean + `)::pg_catalog.int4`
	guardChain  = `1 OPERATOR(pg_catalog./) (` + stillWrites + `)::pg_catalog.int4`
	guardBoth   = `pg_catalog.pg_advisory_unlock_all(), 1 OPERATOR(pg_catalog./) (` + stillClean + ` AND ` + stillWrites + `)::pg_catalog.int4`
)

var guards = [4]string{"", ", " + guardReset, ", " + guardChain, ", " + guardBoth}

// guardUser fails when the session's user is another's.
const guardUser = `, 1 OPERATOR(pg_catalog./) (session_user OPERATOR(pg_catalog.=) %s::pg_catalog.name)::pg_catalog.int4`

// guardTime fails when the task begins too late: as a division of other types than theirs, since
// that says nothing of the session.
const guardTime = `, 1::pg_catalog.int8 OPERATOR(pg_catalog./) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.<=) $%d::pg_catalog.timestamptz)::pg_catalog.int4`
