package exec

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/routine"
)

// answer reads until the server is ready for the next query. take gets the messages of its answer,
// which live until the next is read; nil: nobody wants them. The first error is returned as failure;
// err means that the session is lost.
func (w *wire) answer(take func(pgproto3.BackendMessage)) (failure *pgproto3.ErrorResponse, err error) {
	for {
		message, err := w.front.Receive()
		if err != nil {
			return failure, cut(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.RowDescription, *pgproto3.DataRow, *pgproto3.CommandComplete,
			*pgproto3.CopyOutResponse, *pgproto3.CopyData, *pgproto3.NoticeResponse:
			if take != nil {
				take(m)
			}
		case *pgproto3.CopyInResponse:
			w.front.Send(&pgproto3.CopyFail{Message: "COPY FROM STDIN is not supported"})
			if err := w.flush(); err != nil {
				return failure, err
			}
		case *pgproto3.ParameterStatus:
			w.note(m)
		case *pgproto3.ErrorResponse:
			if failure == nil || fatal(m) {
				failure = copyError(m)
			}
		case *pgproto3.ReadyForQuery:
			return failure, w.became(m)
		case *pgproto3.EmptyQueryResponse, *pgproto3.CopyDone, *pgproto3.NotificationResponse:
		default:
			return failure, unexpected(m)
		}
	}
}

// ask sends a simple query, and reads until the server is ready.
func (w *wire) ask(sql string) (failure *pgproto3.ErrorResponse, err error) {
	w.query(sql)
	if err := w.flush(); err != nil {
		return nil, err
	}
	return w.answer(nil)
}

// exchange sends our statements that are queued, and reads the answers. After a failure the server
// has skipped the rest, and is ready.
func (w *wire) exchange(row func([][]byte)) (failure *pgproto3.ErrorResponse, err error) {
	w.sync()
	n := w.queued()
	if err := w.flush(); err != nil {
		return nil, err
	}
	if failure, err = w.answers(n, row, nil); err == nil && failure == nil {
		err = w.synced()
	}
	return failure, err
}

// answers reads the answers to n statements of ours. A failure is the last: the server has skipped
// all that was sent after it, and is ready. err means that the session is lost.
func (w *wire) answers(n int, row func([][]byte), complete func([]byte)) (failure *pgproto3.ErrorResponse, err error) {
	failed := false // something has since the last Sync
	for n > 0 || failure != nil {
		message, err := w.front.Receive()
		if err != nil {
			return failure, cut(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			if row != nil && failure == nil {
				row(m.Values)
			}
		case *pgproto3.CommandComplete:
			if failure != nil {
				continue
			}
			if complete != nil {
				complete(m.CommandTag)
			}
			n--
		case *pgproto3.ParameterStatus:
			w.note(m)
		case *pgproto3.ErrorResponse:
			if failed = true; failure == nil || fatal(m) {
				failure = copyError(m)
			}
		case *pgproto3.ReadyForQuery:
			if err := w.became(m); err != nil {
				return failure, err
			}
			w.syncs--
			switch {
			case failure == nil && w.syncs <= 0:
				return nil, &Lost{Cause: errors.New("the server left a statement unanswered"), Broken: true}
			case failure != nil && !failed:
				return failure, &Lost{Cause: errors.New("the server went on after a failure"), Broken: true}
			case failure != nil && w.syncs <= 0:
				return failure, nil
			}
			failed = false
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.NoticeResponse, *pgproto3.NotificationResponse:
		default:
			return failure, unexpected(m)
		}
	}
	return nil, nil
}

// synced reads the answer to Sync.
func (w *wire) synced() error {
	failure, err := w.answer(nil)
	if err == nil && failure != nil {
		err = &Lost{Cause: errors.New(failure.Message)}
	}
	w.syncs--
	return err
}

// tags watches the command tags of a run: they are the server's own word for what was done, one for
// each statement of the input, and SQL can't make them up. Inside a function or DO block no
// statement can end a transaction that we have begun.
type tags struct {
	finished  bool // the transaction was ended
	rollbacks int  // more than statements that return to a savepoint, which have the same tag
}

func (t *tags) see(tag []byte) {
	switch string(tag) {
	case "COMMIT", "PREPARE TRANSACTION":
		t.finished = true
	case "ROLLBACK":
		t.rollbacks++
	}
}

// ended tells whether the transaction in which the input began is over.
func (t *tags) ended() bool { return t.finished || t.rollbacks > 0 }

// A server that waits for us to read does not read. What we send before we read its answers must
// fit into the sockets between us, or be written while we read. Else both may wait for ever:
// settings can make the server answer each statement at any length.

// atOnce is how many bytes are written before anything is read: sockets hold that much, even if the
// server reads nothing.
const atOnce = 32 << 10

// outlet is what pgproto3 writes to. It passes on short writes, and writes a long one in a goroutine
// of its own, while the caller reads the answers. landed awaits that goroutine.
type outlet struct {
	to      io.Writer
	conn    net.Conn       // nil: the session is being opened, and all writes are passed on
	crew    *routine.Group // which the goroutine belongs to
	sending <-chan error   // how a long write went; nil: nothing is being sent
}

func (o *outlet) Write(p []byte) (int, error) {
	if o.conn == nil || len(p) <= atOnce {
		return o.to.Write(p)
	}
	late, done := bytes.Clone(p), make(chan error, 1)
	o.sending = done
	o.crew.Go(func() {
		_, err := o.conn.Write(late)
		if err != nil { // no answer comes; the server's last word may
			_ = o.conn.SetDeadline(time.Now().Add(lastWord))
		}
		done <- err
	})
	return len(p), nil
}

// landed waits until all that was written is with the server.
func (o *outlet) landed() (err error) {
	if o.sending != nil {
		err = <-o.sending
		o.sending = nil
	}
	return err
}

// lastWord is how long to wait for a server's last word after a write has failed.
const lastWord = 100 * time.Millisecond
