package exec

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Statements of ours go by the extended protocol: when one fails, the server passes over all that
// comes after it, a simple query too, up to the next Sync. They have no name, since SQL can take
// prepared statements away, or put its own in their place. While nothing but constants runs they are
// prepared, which spares more than half of their cost; DISCARD ALL takes them away before anything
// else runs.

// call queues a statement with its parameters, which are texts.
func (s *Session) call(sql string, args ...[]byte) { s.bind(sql, nil, args) }

// bind queues one whose parameters have these formats; nil: they are texts.
func (s *Session) bind(sql string, formats []int16, args [][]byte) {
	name := s.parse(sql)
	s.front.SendBind(&pgproto3.Bind{PreparedStatement: name, ParameterFormatCodes: formats, Parameters: args, ResultFormatCodes: binaryFormat})
	s.front.SendExecute(&pgproto3.Execute{})
	s.asked++
}

// parse queues what makes a statement known to the server, and returns its name there.
func (s *Session) parse(sql string) string {
	name, known := s.known[sql]
	switch {
	case known:
		return name
	case s.constants && len(s.known) < knownMost:
		name = "pgtaskd_" + strconv.Itoa(len(s.known))
		s.known[sql] = name
	}
	s.front.SendParse(&pgproto3.Parse{Name: name, Query: sql})
	return name
}

// knownMost bounds them: some have a task's limit in their text.
const knownMost = 32

var binaryFormat = []int16{pgproto3.BinaryFormat}

// begin is our transaction, whatever has been set: DEFERRABLE waits for others.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// epoch is that of the server's timestamps: 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads a timestamp in the binary format, which does not depend on DateStyle and TimeZone.
func moment(value []byte) (time.Time, error) {
	if len(value) != 8 {
		return time.Time{}, errMoment
	}
	t := int64(binary.BigEndian.Uint64(value))
	if t < -epoch || t >= momentMost {
		return time.Time{}, errMoment
	}
	return time.UnixMicro(t + epoch), nil
}

// momentMost bounds the moments of which we know what to do with them: from 1970 to the year 9999.
var momentMost = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - epoch

// appendMoment writes what moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
