package exec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// shown makes the statement by which the session of a task shows the task's settings.
type shown struct {
	base    map[string]string // settings to which a reset returns
	ready   [8]string         // sets what a task shows: +1, +2 the usual as well; +4 within a time
	texts   []byte            // of the parameters of such a statement, never nil
	values  [][]byte          // the parameters, parts of it
	formats []int16           // of each
}

// statement sets what the task's session shows and it does not show yet, and asks for the time. It
// fails if the task begins after until, unless that is zero. The parameters stay valid until trim.
func (s *shown) statement(st *state, t *Task, until time.Time) (sql string, formats []int16, values [][]byte) {
	number := 0
	settings := [1 + len(t.Usual)][][2]string{t.Settings}
	for i, usual := range t.Usual {
		if t.Keep && st.dirty || !s.has(st.shows[i], usual) { // SQL whose state is kept may have changed them
			number |= 1 << i
			settings[1+i] = usual
		}
		st.shows[i] = usual
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
	return s.ready[number], s.formats, s.values
}

// trim drops long parameters.
func (s *shown) trim() {
	if cap(s.texts) > textsKept {
		s.texts = []byte{}
		clear(s.values)
	}
}

// textsKept is the largest room that a session keeps for what its next tasks show, in bytes.
const textsKept = 16 << 10

// has tells whether the session shows these settings. before is what was set last; nil: nothing.
func (s *shown) has(before, usual [][2]string) bool {
	if before != nil {
		return slices.Equal(before, usual)
	}
	return s.starts(usual)
}

// value adds a parameter: the end of texts, which are longer by it.
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

// readyFor is the statement that sets these settings, in this order. It does not return them: we do
// not read before the input is sent, so large values could block both ways.
func readyFor(settings [][2]string, within string) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()" + within)
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config('%s', $%d, false) IS NULL", setting[0], i+1)
	}
	return b.String()
}

// inTime fails if the task begins too late; the task starts again when its turn has come. The
// search path is the role's own here, after a reset or constants.
const inTime = `, (CASE WHEN pg_catalog.timestamptz_le(pg_catalog.statement_timestamp(), $%d::pg_catalog.timestamptz) THEN '0' ELSE 'pgtaskd: too late' END)::pg_catalog.int4`
