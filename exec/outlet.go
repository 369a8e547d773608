package exec

import (
	"bytes"
	"io"
	"time"
)

// A server that waits for us to read reads nothing itself. What we send to it before we read its
// answers must fit into the sockets between us, or be written while we read: else both may wait for
// ever, since settings can have it answer each statement at any length.

// atOnce is how much is written before anything is read, in bytes: sockets hold it, even if the
// server reads nothing.
const atOnce = 32 << 10

// outlet is what pgproto3 writes to. It passes on what is short, and keeps what is longer until
// flush sends that aside.
type outlet struct {
	to    io.Writer
	keeps bool   // the session has been opened: flush comes behind each write
	late  []byte // to be sent
}

func (o *outlet) Write(p []byte) (int, error) {
	if !o.keeps || len(p) <= atOnce {
		return o.to.Write(p)
	}
	o.late = bytes.Clone(p)
	return len(p), nil
}

// aside writes what the outlet has kept, by a goroutine of its own. Whoever flushed reads the
// answers meanwhile; landed awaits it.
func (w *wire) aside() {
	late, conn, done := w.outlet.late, w.conn.Conn(), make(chan error, 1)
	w.outlet.late, w.sending = nil, done
	w.crew.Go(func() {
		_, err := conn.Write(late)
		if err != nil { // no answer comes; the server's last word may
			_ = conn.SetDeadline(time.Now().Add(lastWord))
		}
		done <- err
	})
}

// landed waits until all that was flushed is with the server.
func (w *wire) landed() error {
	if w.sending == nil {
		return nil
	}
	err := <-w.sending
	w.sending = nil
	if err != nil {
		return w.lost(err)
	}
	return nil
}
