package exec

import (
	"bytes"
	"io"
	"net"
	"time"

	"pgtaskd/routine"
)

// A server that waits for us to read reads nothing itself. What we send to it before we read its
// answers must fit into the sockets between us, or be written while we read: else both may wait for
// ever, since settings can have it answer each statement at any length.

// atOnce is how much is written before anything is read, in bytes: sockets hold it, even if the
// server reads nothing.
const atOnce = 32 << 10

// outlet is what pgproto3 writes to. It passes on what is short, and keeps what is longer until it is
// sent aside.
type outlet struct {
	to      io.Writer
	keeps   bool         // the session has been opened: flush comes after each write
	late    []byte       // to be sent
	sending <-chan error // how that went; nil: nothing is being sent
}

func (o *outlet) Write(p []byte) (int, error) {
	if !o.keeps || len(p) <= atOnce {
		return o.to.Write(p)
	}
	o.late = bytes.Clone(p)
	return len(p), nil
}

// aside writes what has been kept, by a goroutine of its own. Whoever flushed reads the answers
// meanwhile; landed awaits it.
func (o *outlet) aside(conn net.Conn, crew *routine.Group) {
	if o.late == nil {
		return
	}
	late, done := o.late, make(chan error, 1)
	o.late, o.sending = nil, done
	crew.Go(func() {
		_, err := conn.Write(late)
		if err != nil { // no answer comes; the server's last word may
			_ = conn.SetDeadline(time.Now().Add(lastWord))
		}
		done <- err
	})
}

// landed waits until all that was written is with the server.
func (o *outlet) landed() (err error) {
	if o.sending != nil {
		err = <-o.sending
		o.sending = nil
	}
	return err
}

// lastWord is how long the last word of a server is waited for whose connection takes nothing more.
const lastWord = 100 * time.Millisecond
