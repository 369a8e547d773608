package exec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// setup makes the session ready for each task: a reset, settings and BEGIN. It knows what SQL has left
// there, what the session shows, and which statements of ours are prepared.
type setup struct {
	wire  *wire
	state state

	masked  bool // ALTER ROLE or ALTER DATABASE … SET role has the session run as another role than its login
	endless bool // the role has no transaction_timeout

	base    map[string]string // settings to which a reset returns
	ready   [8]string         // sets what a task shows: +1, +2 the usual as well; +4 within a time
	texts   []byte            // of the parameters of such a statement, never nil
	values  [][]byte          // the parameters, parts of it
	formats []int16           // of each
}

// chains tells whether a task can have the transaction that follows on that of the task before
// without a word (COMMIT AND CHAIN), which spares two statements: where the one before has left
// nothing. What precedes its SQL is part of it then: the settings fall with it when it rolls back,
// and a snapshot is taken already. So its input may not choose the modes of its transaction.
func (s *setup) chains(t *Task) bool {
	return t.Atomic && !t.Traits.Modes && !t.Traits.Isolation && !s.state.dirty && !s.state.needsReset(t) && (!t.Save || t.constant()) && !t.alone() && s.endless
}

// prepare queues what makes the session ready for a task: reset, settings, and BEGIN. Unless
// its input can't choose its isolation level, nothing takes a snapshot after that. The task must
// begin until then, unless that is zero.
func (s *setup) prepare(t *Task, chained bool, until time.Time) {
	s.state.constants = t.constant() && !s.state.dirty
	if !chained {
		if s.state.needsReset(t) {
			s.reset()
		}
		s.call(begin)
	}
	s.settings(t, until)
	s.apart(t)
	if !chained {
		s.call("COMMIT")
		if t.Atomic {
			s.call("BEGIN")
		}
	}
}

// begin is our transaction, whatever has been set: DEFERRABLE waits for others.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// reset queues what makes the session new.
func (s *setup) reset() {
	s.call("DISCARD ALL")
	if s.masked {
		s.call("RESET ROLE") // to what ALTER ROLE … SET role says: DISCARD ALL of older servers leaves none
	}
	s.state = state{known: map[string]string{}}
}

// commit queues the COMMIT of the task before, and a transaction that follows on that where it is
// chained.
func (s *setup) commit(chained bool) {
	sql := "COMMIT"
	if chained {
		sql = "COMMIT AND CHAIN"
	}
	s.call(sql)
}

// settings queues what the session of the task shows, by a statement that tells the time. What
// it shows already need not be said.
func (s *setup) settings(t *Task, until time.Time) {
	number := 0
	settings := [1 + len(t.Usual)][][2]string{t.Settings}
	for i, usual := range t.Usual {
		if t.Keep && s.state.dirty || !s.showsAll(i, usual) { // SQL whose state is kept may have changed them
			number |= 1 << i
			settings[1+i] = usual
		}
		s.state.shows[i] = usual
	}
	s.texts, s.values, s.formats = s.texts[:0], s.values[:0], s.formats[:0]
	for _, some := range settings {
		for _, setting := range some {
			s.value(append(s.texts, setting[1]...), pgproto3.TextFormat)
		}
	}
	if !until.IsZero() {
		number |= 4
		s.value(appendMoment(s.texts, until), pgproto3.BinaryFormat) // to read it as text takes the server 4 µs
	}
	if s.ready[number] == "" {
		within := ""
		if !until.IsZero() {
			within = fmt.Sprintf(inTime, len(s.values))
		}
		s.ready[number] = readyFor(slices.Concat(settings[:]...), within)
	}
	s.bind(s.ready[number], s.formats, s.values)
	if cap(s.texts) > textsKept {
		s.texts = []byte{}
		clear(s.values)
	}
	switch ms := (t.Timeout-1)/time.Millisecond + 1; {
	case t.Timeout > 0 && ms < 1<<31:
		s.call("SET statement_timeout TO " + strconv.FormatInt(int64(ms), 10))
		s.state.timeoutSet = true
	case s.state.timeoutSet:
		s.call("RESET statement_timeout")
		s.state.timeoutSet = false
	}
}

// showsAll tells whether the session shows the settings of that number by now.
func (s *setup) showsAll(number int, usual [][2]string) bool {
	if before := s.state.shows[number]; before != nil {
		return slices.Equal(before, usual)
	}
	return s.starts(usual)
}

// apart queues the settings that the task alone has, and takes those back that the one before
// had, where its state is kept: one statement, however many there are, since settings can have the
// server say much about each. No row comes back, which would be taken for the time.
func (s *setup) apart(t *Task) {
	var settings []byte // a JSON object, which no setting reads otherwise
	add := func(name string, value *string) {
		named, _ := json.Marshal(name)
		valued, _ := json.Marshal(value)
		settings = append(append(append(append(settings, ','), named...), ':'), valued...)
	}
	for _, setting := range s.state.own {
		add(setting[0], nil)
	}
	for _, setting := range t.Own {
		add(setting[0], &setting[1])
	}
	if s.state.own = t.Own; settings != nil {
		settings[0] = '{'
		s.call(settingApart, append(settings, '}'))
	}
}

// settingApart sets each to its value in their order; one without a value goes back to what it was.
const settingApart = `SELECT FROM pg_catalog.json_each_text($1::pg_catalog.json) AS s (name, value) WHERE pg_catalog.set_config(s.name, s.value, false) IS NULL`

// textsKept is the largest room that a session keeps for what its next tasks show, in bytes.
const textsKept = 16 << 10

// value adds a parameter of the statement that is being made, by which texts have become longer.
func (s *setup) value(texts []byte, format int16) {
	s.values = append(s.values, texts[len(s.texts):len(texts):len(texts)])
	s.texts, s.formats = texts, append(s.formats, format)
}

// starts tells whether the session has these settings from its start.
func (s *setup) starts(settings [][2]string) bool {
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
func readyFor(settings [][2]string, within string) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()" + within)
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config('%s', $%d, false) IS NULL", setting[0], i+1)
	}
	return b.String()
}

// inTime fails when the task begins too late: what the server has passed over starts again when its
// turn has come. The path is the role's own here, after a reset or constants.
const inTime = `, (CASE WHEN pg_catalog.timestamptz_le(pg_catalog.statement_timestamp(), $%d::pg_catalog.timestamptz) THEN '0' ELSE 'pgtaskd: too late' END)::pg_catalog.int4`
