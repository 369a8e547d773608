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
