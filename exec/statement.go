package exec

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Statement is one of our own. With a name it stays prepared in its session, which spares two
// thirds of its cost; without, it is parsed each time. The session adds a secret to the name
// (intact.go).
type Statement struct{ Name, SQL string }

// Call is a statement with its parameters, in their order.
type Call struct {
	*Statement
	args    [][]byte
	formats []int16
}

func (c *Call) add(format int16, arg []byte) {
	c.args, c.formats = append(c.args, arg), append(c.formats, format)
}

// Text adds a parameter of any type, as text; nil is NULL.
func (c *Call) Text(text *string) {
	if text == nil {
		c.add(pgproto3.TextFormat, nil)
		return
	}
	c.add(pgproto3.TextFormat, bytesOf(*text))
}

// Int8, Int4 (an xid likewise), Bool and Moment add one of the type that they name (timestamptz),
// in its binary format: to read a moment as text takes the server 4 µs.
func (c *Call) Int8(n int64) {
	c.add(pgproto3.BinaryFormat, binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (c *Call) Int4(n int32) {
	c.add(pgproto3.BinaryFormat, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func (c *Call) Bool(is bool) {
	arg := []byte{0}
	if is {
		arg[0] = 1
	}
	c.add(pgproto3.BinaryFormat, arg)
}

func (c *Call) Moment(t time.Time) { c.add(pgproto3.BinaryFormat, appendMoment(nil, t)) }

// What every task needs.
var (
	begin    = &Statement{"pgtaskd_begin", "BEGIN ISOLATION LEVEL READ COMMITTED"} // whatever has been set: DEFERRABLE waits for others
	commit   = &Statement{"pgtaskd_commit", "COMMIT"}
	chain    = &Statement{"pgtaskd_chain", "COMMIT AND CHAIN"}
	closeAll = &Statement{"pgtaskd_close", "CLOSE ALL"}
)

// call queues one of our statements, by the extended protocol: when it fails, the server passes
// over whatever is behind it, a simple query too, up to the next Sync.
func (s *Session) call(st *Statement, args ...[]byte) { s.bind(s.parse(st), nil, args) }

// parse makes a statement known to the session, and returns its name there.
func (s *Session) parse(st *Statement) (name string) {
	prepared, known := s.known[st.Name]
	switch {
	case s.wary || known && prepared != st.SQL:
	case known:
		return s.named(st.Name)
	case st.Name != "":
		name = s.named(st.Name)
	}
	s.front.SendParse(&pgproto3.Parse{Name: name, Query: st.SQL})
	if name == "" {
		s.parsing = append(s.parsing, "")
		return ""
	}
	s.parsing = append(s.parsing, st.Name)
	s.known[st.Name] = st.SQL
	return name
}

// bind queues a statement that is known to the session. Its parameters are texts, unless formats
// says so of each.
func (s *Session) bind(name string, formats []int16, args [][]byte) {
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if size > queueMost {
		s.sendLongBind(name, formats, args)
	} else {
		s.front.SendBind(&pgproto3.Bind{PreparedStatement: name, ParameterFormatCodes: formats, Parameters: args, ResultFormatCodes: binaryFormat})
	}
	s.front.SendExecute(&pgproto3.Execute{})
	s.asked++
}

// plain queues a statement that is parsed each time.
func (s *Session) plain(sql string) { s.call(&Statement{SQL: sql}) }

var binaryFormat = []int16{pgproto3.BinaryFormat}

// answers reads what the server says to n statements of ours, as the wire's does, and takes down
// what a failure means for those that are prepared.
func (s *Session) answers(n int, row func([][]byte), complete func(tag []byte)) (well int, failure *pgproto3.ErrorResponse, err error) {
	well, failure, err = s.wire.answers(n, row, complete)
	if failure != nil && err == nil {
		s.unprepared()
		s.hard = s.hard || s.discarding || failure.Code == "42P05" // which is that one of them is another's
		s.discarding, s.open = false, false
	}
	return well, failure, err
}

// unprepared forgets the statements that the server has not prepared, as it has passed over them.
func (s *Session) unprepared() {
	for _, name := range s.parsing {
		delete(s.known, name)
	}
	s.parsing, s.planned = s.parsing[:0], ""
}

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
