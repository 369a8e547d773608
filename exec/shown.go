package exec

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shown makes the statement by which the session of a task shows the task's settings.
type shown struct {
	base  map[string]string // settings to which a reset returns
	ready [8]string         // sets what a task shows: +1, +2 the usual as well; +4 within a time
}

// statement sets what the task's session shows and it does not show yet, and asks for the time. It
// fails if the task begins after until, unless that is zero.
func (s *shown) statement(st *state, t *Task, until time.Time) (sql string, values [][]byte) {
	number := 0
	settings := [1 + len(t.Usual)][][2]string{t.Settings}
	for i, usual := range t.Usual {
		if t.Keep && st.dirty || !s.has(st.shows[i], usual) { // SQL whose state is kept may have changed them
			number |= 1 << i
			settings[1+i] = usual
		}
		st.shows[i] = usual
	}
	for _, some := range settings {
		for _, setting := range some {
			values = append(values, []byte(setting[1]))
		}
	}
	timed := !until.IsZero()
	if timed {
		number |= 4
		values = append(values, appendMoment(nil, until))
	}
	if s.ready[number] == "" {
		s.ready[number] = readyFor(slices.Concat(settings[:]...), timed)
	}
	return s.ready[number], values
}

// has tells whether the session shows these settings. before is what was set last; nil: nothing but
// what the session has from its start.
func (s *shown) has(before, usual [][2]string) bool {
	if before != nil {
		return slices.Equal(before, usual)
	}
	return !slices.ContainsFunc(usual, func(setting [2]string) bool {
		value, known := s.base[setting[0]]
		return !known || value != setting[1]
	})
}

// readyFor is the statement that sets these settings, in this order. It does not return them: we do
// not read before the input is sent, so large values could block both ways.
func readyFor(settings [][2]string, timed bool) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()")
	if timed {
		fmt.Fprintf(&b, inTime, len(settings)+1)
	}
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config('%s', $%d, false) IS NULL", setting[0], i+1)
	}
	return b.String()
}

// inTime fails if the task begins too late; the task starts again when its turn has come. The
// search path is the role's own here, after a reset or constants.
const inTime = `, (CASE WHEN pg_catalog.timestamptz_le(pg_catalog.statement_timestamp(), $%d::pg_catalog.timestamptz) THEN '0' ELSE 'pgtaskd: too late' END)::pg_catalog.int4`
