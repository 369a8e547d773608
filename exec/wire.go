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

// wire is the connection of a session. It counts the answers that the server still owes.
type wire struct {
	conn   *pgconn.PgConn
	reader *bound.Reader // reads what the server sends
	front  *pgproto3.Frontend
	outlet *outlet        // front writes to it
	crew   *routine.Group // owns the goroutines and timers of the session

	limit    time.Duration // the time for the answer to a statement of ours
	brief    time.Duration // readyMost
	asked    int           // statements of ours that were queued since the last call of queued
	syncs    int           // Syncs that the server has not answered
	written  bool          // the server may have part of what Begin sends
	status   byte          // transaction status of the last ReadyForQuery
	readOnly bool          // transactions begin as READ ONLY; from version 14 on the server reports changes

	unreplicated bool // somebody has cancelled the wait of a COMMIT for a synchronous standby
}

// syncRepWait is the routine of the warning that such a wait was cancelled: the message may be translated.
const syncRepWait = "SyncRepWaitForLSN"

// dial opens a connection. own means that it goes to the target's own database (local in Connect);
// limit and trusted are as in Connect.
func dial(ctx context.Context, cfg *pgconn.Config, limit time.Duration, own, trusted bool) (*wire, error) {
	w := &wire{status: 'I', limit: limit, brief: readyMost}
	// ConnectConfig may try several times; the last reader counts.
	bound.Tasks(ctx, cfg, own, trusted, func(r *bound.Reader) { w.reader = r })
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(from io.Reader, to io.Writer) *pgproto3.Frontend {
		w.outlet = &outlet{to: to}
		return build(from, w.outlet)
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		w.unreplicated = w.unreplicated || n.Routine == syncRepWait
	}
	var err error
	if w.conn, err = pgconn.ConnectConfig(ctx, cfg); err != nil {
		return nil, err
	}
	w.front, w.outlet.conn = w.conn.Frontend(), w.conn.Conn()
	return w, nil
}

// beneath returns the connection below TLS, which closes at once. TLS sends a farewell before it
// closes, and waits for writes that are under way. A server can make its reads write as well.
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

// readyMost limits the time in which a server makes a session ready for a task. It includes neither
// the task's own SQL nor the end of the previous task.
const readyMost = 30 * time.Second

// query queues a message; flush sends what is queued.
func (w *wire) query(sql string) { w.front.SendQuery(&pgproto3.Query{String: sql}) }

// input queues a task's SQL. The Flush makes the server send all earlier answers first.
func (w *wire) input(sql string) {
	w.front.Send(&pgproto3.Flush{})
	w.query(sql)
}

// execute queues a statement of ours that the server has parsed under this name.
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

// landed waits until everything that was flushed is written to the socket.
func (w *wire) landed() error {
	if err := w.outlet.landed(); err != nil {
		return w.lost(err)
	}
	return nil
}

// lost reads from a broken connection: the server may have sent a FATAL error before the end.
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

// sync queues a Sync. After a failure, the server skips everything up to the next Sync.
func (w *wire) sync() {
	w.front.SendSync(&pgproto3.Sync{})
	w.syncs++
}

// queued returns how many statements of ours were queued since the last call.
func (w *wire) queued() int {
	n := w.asked
	w.asked = 0
	return n
}

// became records the transaction status.
func (w *wire) became(m *pgproto3.ReadyForQuery) error {
	switch m.TxStatus {
	case 'I', 'T', 'E':
		w.status = m.TxStatus
		return nil
	}
	return &Lost{Cause: fmt.Errorf("the server sent an unknown transaction status: %q", m.TxStatus), Broken: true}
}

// note records a setting that the server reports.
func (w *wire) note(m *pgproto3.ParameterStatus) {
	if m.Name == "default_transaction_read_only" {
		w.readOnly = m.Value == "on"
	}
}

// row runs a query of ours before the first task. The answer must be one row with this number of
// columns. The error is a *pgconn.PgError if the server refuses the query.
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

// unbegun marks a *Lost if the SQL that Begin sends has certainly not begun. Either no byte was
// sent, or the server itself ended the session before it answered the statements before the SQL: it
// answers these before it reads on. A proxy may lose answers, so only the server's own codes count.
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

// Values in the binary format. Each is checked, because anybody may run a remote.

var binaryFormat = []int16{pgproto3.BinaryFormat}

// errAnswer means that an answer does not fit its question.
var errAnswer = errors.New("the server's catalog can't be read")

// int4Of reads an int4.
func int4Of(value []byte) (int32, error) {
	if len(value) != 4 {
		return 0, errAnswer
	}
	return int32(binary.BigEndian.Uint32(value)), nil
}

// int8Of reads an int8.
func int8Of(value []byte) (int64, error) {
	if len(value) != 8 {
		return 0, errAnswer
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// epoch is the zero of the server's timestamps, 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads a timestamp. The binary format does not depend on DateStyle and TimeZone.
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

// momentMost is the end of the accepted range, which goes from 1970 to the year 9999.
var momentMost = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - epoch

// appendMoment appends a timestamp in the format that moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
