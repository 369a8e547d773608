package exec

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/bound"
	"pgtaskd/routine"
)

// wire is a connection, with what is queued and sent on it, and how many answers are still to come.
type wire struct {
	conn   *pgconn.PgConn
	reader *bound.Reader // of what the server sends
	front  *pgproto3.Frontend
	outlet *outlet        // of front
	crew   *routine.Group // what the session starts belongs to

	limit    time.Duration // for the answer to a statement of our own
	brief    time.Duration // readyMost
	asked    int           // statements of ours that are queued, see queued
	syncs    int           // Syncs that the server has not answered
	written  bool          // part of what is being sent is on the wire
	status   byte          // transaction status of the last ReadyForQuery
	readOnly bool          // transactions begin as READ ONLY; when that changes the server tells, from 14 on
}

// dial opens a connection, in the target's own database or elsewhere; limit, own and trusted are as
// in Connect.
func dial(ctx context.Context, cfg *pgconn.Config, limit time.Duration, own, trusted bool) (*wire, error) {
	w := &wire{status: 'I', limit: limit, brief: readyMost}
	bound.Tasks(ctx, cfg, own, trusted, func(r *bound.Reader) { w.reader = r }) // the last: there may be several tries
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(from io.Reader, to io.Writer) *pgproto3.Frontend {
		w.outlet = &outlet{to: to}
		return build(from, w.outlet)
	}
	var err error
	if w.conn, err = pgconn.ConnectConfig(ctx, cfg); err != nil {
		return nil, err
	}
	w.front, w.outlet.conn = w.conn.Frontend(), w.conn.Conn()
	return w, nil
}

// beneath is the connection below TLS. TLS itself sends a farewell before it closes, and waits for
// what is being written; a server can make reading write, too.
func beneath(conn net.Conn) net.Conn {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn()
	}
	return conn
}

// within limits the time for answers to statements of ours, until unlimited.
func (w *wire) within(most time.Duration) {
	_ = w.conn.Conn().SetDeadline(time.Now().Add(min(most, w.limit)))
}

func (w *wire) unlimited() { _ = w.conn.Conn().SetDeadline(time.Time{}) }

// readyMost is how long a server may take to make a session ready for a task. The task's own SQL
// does not count, nor does the end of the task before.
const readyMost = 30 * time.Second

// query queues a message; flush sends what is queued.
func (w *wire) query(sql string) { w.front.SendQuery(&pgproto3.Query{String: sql}) }

// input queues a task's SQL. The server sends its answers to all before it at once.
func (w *wire) input(sql string) {
	w.front.Send(&pgproto3.Flush{})
	w.query(sql)
}

// execute queues a statement of ours that the server knows by this name.
func (w *wire) execute(name string, args [][]byte) {
	w.front.SendBind(&pgproto3.Bind{
		PreparedStatement: name, ParameterFormatCodes: binaryFormat, Parameters: args, ResultFormatCodes: binaryFormat,
	})
	w.front.SendExecute(&pgproto3.Execute{})
	w.asked++
}

func (w *wire) flush() error {
	if err := w.landed(); err != nil {
		return err
	}
	if err := w.front.Flush(); err != nil {
		return w.lost(err)
	}
	w.written = true
	return nil
}

// landed waits until the server has got all that was flushed.
func (w *wire) landed() error {
	if err := w.outlet.landed(); err != nil {
		return w.lost(err)
	}
	return nil
}

// lost looks for a last word of the server on a connection that broke.
func (w *wire) lost(cause error) error {
	_ = w.conn.Conn().SetDeadline(time.Now().Add(lastWord))
	for {
		message, err := w.front.Receive()
		if err != nil {
			return &Lost{Cause: cause}
		}
		if e, ok := message.(*pgproto3.ErrorResponse); ok && fatal(e) {
			return &Lost{Fatal: copyError(e), Cause: cause}
		}
	}
}

// sync queues a Sync: after a failure, the server skips all up to it.
func (w *wire) sync() {
	w.front.SendSync(&pgproto3.Sync{})
	w.syncs++
}

// queued counts the statements of ours that were queued since it was last called.
func (w *wire) queued() int {
	n := w.asked
	w.asked = 0
	return n
}

// became notes the status of the transaction.
func (w *wire) became(m *pgproto3.ReadyForQuery) error {
	switch m.TxStatus {
	case 'I', 'T', 'E':
		w.status = m.TxStatus
		return nil
	}
	return &Lost{Cause: fmt.Errorf("the server sent an unknown transaction status: %q", m.TxStatus), Broken: true}
}

// note notes a setting that the server reports.
func (w *wire) note(m *pgproto3.ParameterStatus) {
	if m.Name == "default_transaction_read_only" {
		w.readOnly = m.Value == "on"
	}
}

// row runs a query of ours for one row of so many columns, before the first task. The error is a
// *pgconn.PgError if the server has refused it.
func (w *wire) row(ctx context.Context, sql string, columns int) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	answer := w.conn.ExecParams(ctx, sql, nil, nil, nil, binaryFormat).Read()
	switch {
	case answer.Err != nil:
		return nil, answer.Err
	case len(answer.Rows) != 1 || len(answer.Rows[0]) != columns:
		return nil, errAnswer
	}
	return answer.Rows[0], nil
}

// unbegun notes on a *Lost that the SQL which Begin sends has certainly not begun: nothing of it
// has left us, or the server ended the session before it answered what precedes the SQL (it answers
// that before it reads on). A proxy may lose answers: its own last words prove nothing.
func (w *wire) unbegun(err error) error {
	lost := new(Lost)
	if !errors.As(err, &lost) {
		return err
	}
	own := lost.Fatal != nil && (strings.HasPrefix(lost.Fatal.Code, "57P0") || lost.Fatal.Code == "25P03" ||
		lost.Fatal.Code == "25P04")
	lost.Unbegun = lost.Unbegun || own || !w.written && pgconn.SafeToRetry(lost.Cause)
	return err
}

// Values in the binary format. Each is checked, since a remote may be anybody's server.

var binaryFormat = []int16{pgproto3.BinaryFormat}

// errAnswer is the error of an answer that does not fit the question.
var errAnswer = errors.New("the server's catalog can't be read")

// int8Of reads an int8.
func int8Of(value []byte) (int64, error) {
	if len(value) != 8 {
		return 0, errAnswer
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// epoch is the zero of the server's timestamps, 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads a timestamp. It does not depend on DateStyle and TimeZone.
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

// momentMost limits the timestamps that we understand: from 1970 to the year 9999.
var momentMost = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - epoch

// appendMoment writes what moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
