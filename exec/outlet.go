package exec

import (
	"bytes"
	"io"
	"net"
	"time"

	"pgtaskd/routine"
)

// A server that waits for us to read does not read. What we send before we read its answers must
// fit into the sockets between us, or be written while we read. Else both may wait for ever:
// settings can make the server answer each statement at any length.

// atOnce is how many bytes are written before anything is read: sockets hold that much, even if the
// server reads nothing.
const atOnce = 32 << 10

// outlet is what pgproto3 writes to. It passes on short writes, and keeps a long one until it is
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

// aside writes what was kept, in a goroutine of its own, while the caller reads the answers. landed
// awaits that goroutine.
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

// lastWord is how long to wait for a server's last word after a write has failed.
const lastWord = 100 * time.Millisecond
