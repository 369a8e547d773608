package exec

import (
	"fmt"
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
	noted  func(*pgproto3.ParameterStatus) // takes down a setting that the server tells us of

	limit   time.Duration           // for the answer to a statement of our own
	asked   int                     // statements of ours that are queued, see queued
	parsing []string                // names of those that the server is to prepare and has not spoken of yet
	syncs   int                     // those that it has not answered
	failing *pgproto3.ErrorResponse // the SQL under way has failed, and the server passes over what is behind it
	unsent  error                   // why a long message could not be sent
	written bool                    // something of what is being sent has left us
	status  byte                    // transaction status of the last ReadyForQuery
}

// limited bounds the time until the answers to statements of our own have come.
func (w *wire) limited(on bool) {
	var until time.Time
	if on {
		until = time.Now().Add(w.limit)
	}
	_ = w.conn.Conn().SetDeadline(until)
}

// query queues a message; flush sends what is queued.
func (w *wire) query(sql string) {
	if len(sql) > queueMost {
		w.sendLongQuery(sql)
		return
	}
	w.front.SendQuery(&pgproto3.Query{String: sql})
}

func (w *wire) flush() error {
	err := w.unsent
	if err == nil {
		err = w.front.Flush()
	}
	if err != nil {
		return w.lost(err)
	}
	w.written = true
	return nil
}

// lost looks whether the server has left a last word in what it had sent before the connection
// broke.
func (w *wire) lost(cause error) error {
	_ = w.conn.Conn().SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	for {
		message, err := w.front.Receive()
		if err != nil {
			return &Lost{Cause: cause}
		}
		if e, ok := message.(*pgproto3.ErrorResponse); ok && fatal(e) {
			return &Lost{Fatal: copyError(e), Cause: cause, Limited: limit(e)}
		}
	}
}

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
