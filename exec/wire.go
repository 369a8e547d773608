package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// wire is a connection, and what is on it: what has been queued and sent, and what the server has
// still to say to that.
type wire struct {
	conn   *pgconn.PgConn
	reader *bound // of what the server sends
	front  *pgproto3.Frontend
	outlet *outlet                         // of front
	spawn  func(func())                    // starts a goroutine of the session's crew
	noted  func(*pgproto3.ParameterStatus) // takes down a setting that the server tells us of

	limit   time.Duration // for the answer to a statement of our own
	brief   time.Duration // readyMost
	sending <-chan error  // how what is sent aside went; nil: nothing is
	asked   int           // statements of ours that are queued, see queued
	syncs   int           // those that it has not answered
	written bool          // something of what is being sent has left us
	status  byte          // transaction status of the last ReadyForQuery
}

// limited bounds the time until the answers to statements of our own have come.
func (w *wire) limited(on bool) {
	if on {
		w.within(w.limit)
		return
	}
	_ = w.conn.Conn().SetDeadline(time.Time{})
}

// within does so where they should come sooner.
func (w *wire) within(most time.Duration) {
	_ = w.conn.Conn().SetDeadline(time.Now().Add(min(most, w.limit)))
}

// readyMost is how long a server may take to make a session ready for a task. Nothing of the task's
// own is part of that, nor is what ends the one before.
const readyMost = 30 * time.Second

// query queues a message; flush sends what is queued.
func (w *wire) query(sql string) { w.front.SendQuery(&pgproto3.Query{String: sql}) }

func (w *wire) flush() error {
	if err := w.landed(); err != nil {
		return err
	}
	if err := w.front.Flush(); err != nil {
		return w.lost(err)
	}
	w.written = true
	if w.outlet.late != nil {
		w.aside()
	}
	return nil
}

// lost looks whether the server has left a last word in what it had sent before the connection
// broke.
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

// lastWord is how long the last word of a server is waited for whose connection takes nothing more.
const lastWord = 100 * time.Millisecond

// sync ends what is passed over after a failure.
func (w *wire) sync() {
	w.front.SendSync(&pgproto3.Sync{})
	w.syncs++
}

// queued tells how many statements of ours have been queued since it was last asked.
func (w *wire) queued() int {
	n := w.asked
	w.asked = 0
	return n
}

// became takes down the status of the transaction.
func (w *wire) became(m *pgproto3.ReadyForQuery) error {
	switch m.TxStatus {
	case 'I', 'T', 'E':
		w.status = m.TxStatus
		return nil
	}
	return &Lost{Cause: fmt.Errorf("the server sent an unknown transaction status: %q", m.TxStatus), Broken: true}
}

// What the protocol allows a server to say. Whoever breaks it is not listened to any more: what
// comes next could be anything.

// unexpected is the loss of a session whose server has sent what has no place there.
func unexpected(message pgproto3.BackendMessage) *Lost {
	return &Lost{Cause: fmt.Errorf("the server sent an unexpected message: %T", message), Broken: true}
}

// cut is the loss of a session whose connection gives no more messages.
func cut(failure *pgproto3.ErrorResponse, cause error) *Lost {
	return &Lost{Fatal: onlyFatal(failure), Cause: cause, Broken: !isNetwork(cause)}
}

// isNetwork tells an error of the connection from that of a message that can't be read. A
// connection's end is never io.EOF here, as that of a text in a message is.
func isNetwork(err error) bool {
	var network net.Error
	var system syscall.Errno
	return errors.As(err, &network) || errors.As(err, &system) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// sqlstate is a code as rows hold it, whatever the server has sent.
func sqlstate(code string) string {
	const violation = "08P01" // protocol_violation
	if len(code) != 5 {
		return violation
	}
	for _, c := range []byte(code) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return violation
		}
	}
	return code
}

// CopyData waits for the next piece of data of a COPY that the server sends, such as a stream of
// replication; it is valid until the next call. The error is io.EOF when the server ends the COPY,
// and a *pgconn.PgError when it fails there. When ctx ends sooner the connection remains as it is,
// and CopyData can be called again.
func CopyData(ctx context.Context, conn *pgconn.PgConn) ([]byte, error) {
	for {
		message, err := conn.ReceiveMessage(ctx)
		if err != nil {
			return nil, err
		}
		switch m := message.(type) {
		case *pgproto3.CopyData:
			return m.Data, nil
		case *pgproto3.CopyDone:
			return nil, io.EOF
		case *pgproto3.ErrorResponse:
			return nil, pgconn.ErrorResponseToPgError(m)
		}
	}
}
