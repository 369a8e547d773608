package exec

import (
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Statements of ours go by the extended protocol: when one fails, the server passes over all that
// comes after it, a simple query too, up to the next Sync. They have no name, since SQL can take
// prepared statements away, or put its own in their place. While nothing but constants runs they are
// prepared, which spares more than half of their cost; DISCARD ALL takes them away before anything
// else runs.

// call queues a statement with its parameters, which are texts.
func (s *setup) call(sql string, args ...[]byte) { s.bind(sql, nil, args) }

// bind queues one whose parameters have these formats; nil: they are texts.
func (s *setup) bind(sql string, formats []int16, args [][]byte) {
	s.wire.execute(s.parse(sql), formats, args)
}

// parse queues what makes a statement known to the server, and returns its name there.
func (s *setup) parse(sql string) string {
	name, known := s.state.known[sql]
	switch {
	case known:
		return name
	case s.state.constants && len(s.state.known) < knownMost:
		name = "pgtaskd_" + strconv.Itoa(len(s.state.known))
		s.state.known[sql] = name
	}
	s.wire.front.SendParse(&pgproto3.Parse{Name: name, Query: sql})
	return name
}

// knownMost bounds them: some have a task's limit in their text.
const knownMost = 32
