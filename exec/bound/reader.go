package bound

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"pgtaskd/exec/text"
)

// The longest messages that are passed on, and how much a server may send in all before the first
// task, in bytes.
const (
	messageMost = 16 << 10
	columnsMost = 256 << 10 // of RowDescription: 1,664 columns with the longest names are 140 kB
	greetMost   = 1 << 20
)

var (
	errLongMessage = errors.New("the server sent a message that is too long")
	errLongGreet   = errors.New("the server sent too much before the first task")
)

// Reader reads what a server sends. It belongs to the goroutine that reads.
type Reader struct {
	from    io.Reader
	whole   bool         // rows are passed on, however long
	greeted bool         // the first task has begun
	sent    int          // bytes, until then
	output  *text.Output // of the query under way; nil: its long rows are dropped
	pace    pace
	login   login

	left   int     // bytes of a short message that are still to be passed on
	header [5]byte // of the next message
	known  int     // bytes of header that have come
	long   *long   // the long message under way
	ready  []byte  // to be passed on before anything else
	rest   []byte  // has been read, and is still to be looked at
	pieces []byte  // where long messages are read to
	wrong  error   // what the server has sent makes no sense
}

// long is a message that is taken in pieces.
type long struct {
	kind byte
	left int           // bytes that are still to come
	take func([]byte)  // takes the next of them, and keeps no reference
	end  func() []byte // returns the message in its place, nil: none
}

// AskedForPassword tells whether the server has asked for it, in whatever form.
func (b *Reader) AskedForPassword() bool { return b.login.asked }

// Greeted says that the first task begins: the server may send only so much before it.
func (b *Reader) Greeted() { b.greeted = true }

// Task says where the long rows of the task under way go; nil: no task is.
func (b *Reader) Task(output *text.Output) {
	b.output, b.pace = output, pace{own: b.pace.own}
}

// Read passes on what is short. It may be called again after an error of the connection.
func (b *Reader) Read(p []byte) (int, error) {
	for b.wrong == nil {
		switch {
		case len(b.ready) > 0:
			n := copy(p, b.ready)
			b.ready = b.ready[n:]
			return n, nil
		case b.long != nil:
			if err := b.digest(); err != nil {
				return 0, err
			}
		case b.known > 0:
			if err := b.complete(); err != nil {
				return 0, err
			}
		default:
			n, err := b.read(p)
			if n == 0 {
				return 0, err
			}
			if n = b.scan(p[:n]); n > 0 {
				return n, nil
			}
		}
	}
	return 0, b.wrong
}

func (b *Reader) read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return b.fetch(p)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// scan follows the messages in p, and returns how many of its bytes are passed on. It keeps the
// rest.
func (b *Reader) scan(p []byte) (n int) {
	for b.left < len(p)-n {
		n += b.left
		b.left = 0
		if b.known = copy(b.header[:], p[n:]); b.known < len(b.header) {
			return n
		}
		if !b.next() { // rest may be where p comes from
			b.rest = append(append(make([]byte, 0, len(p)-n+len(b.rest)), p[n+len(b.header):]...), b.rest...)
			return n
		}
		n += len(b.header)
	}
	b.left -= len(p) - n
	return len(p)
}

// fetch reads from the connection, at the pace of what it has brought before.
func (b *Reader) fetch(p []byte) (int, error) {
	if !b.whole {
		b.pace.wait(b.output)
	}
	return b.from.Read(p)
}

// complete reads the rest of a header that has come in part.
func (b *Reader) complete() error {
	for b.known < len(b.header) {
		n, err := b.read(b.header[b.known:])
		if n == 0 && err != nil {
			return err
		}
		b.known += n
	}
	if b.next() {
		b.ready = b.header[:]
	}
	return nil
}

// next looks at the header that has come, and tells whether its message is passed on.
func (b *Reader) next() bool {
	b.known = 0
	kind, length := b.header[0], int(int32(binary.BigEndian.Uint32(b.header[1:])))-4
	if length < 0 {
		b.left = math.MaxInt // pgproto3 will say what is wrong
		return true
	}
	if !b.greeted && !b.whole {
		if b.sent += len(b.header) + length; b.sent > greetMost {
			b.wrong = errLongGreet
			return false
		}
	}
	proves := kind == 'R' && !b.greeted
	if length <= messageMost && !proves || kind == 'D' && b.whole || kind == 'T' && length <= columnsMost {
		b.left = length
		b.pace.said += saidEach + cost(kind, length)
		return true
	}
	b.long = &long{kind: kind, left: length}
	return false
}

// begin decides what happens to a long message, once everything before it has been read.
func (b *Reader) begin() {
	kind, length := b.long.kind, b.long.left
	b.long.take, b.long.end = func([]byte) {}, func() []byte { return nil }
	switch {
	case kind == 'E' || kind == 'N':
		kept := &longText{}
		b.long.take, b.long.end = kept.take, func() []byte { return kept.message(kind) }
	case kind == 'R' && length <= messageMost:
		body := make([]byte, 0, length)
		b.long.take = func(p []byte) { body = append(body, p...) }
		b.long.end = func() []byte {
			b.wrong = b.login.asks(body)
			return encoded('R', body)
		}
	case kind == 'D' && b.output != nil:
		if row := (&longRow{output: b.output, column: -1}); b.output.StartRow(length - 2 - 4*valuesMost) {
			b.long.take, b.long.end = row.take, func() []byte { row.end(); return nil }
		}
	case kind == 'd' && b.output != nil:
		if output := b.output; output.StartCopy(length) {
			b.long.take, b.long.end = output.Piece, func() []byte { output.EndCopy(); return nil }
		}
	case kind == 'd' && b.whole: // a stream of replication: its head says what it is about
		var head []byte
		b.long.take = func(p []byte) { head = append(head, p[:min(len(p), headKept-len(head))]...) }
		b.long.end = func() []byte { return encoded('d', head) }
	case kind != 'D' && kind != 'd' && kind != 'S' && kind != 'A': // settings and notifications of ours are short
		b.wrong = errLongMessage
	}
}

// headKept is how many bytes of COPY data are kept where no output takes it.
const headKept = 1 << 10

// digest reads the long message under way to its end.
func (b *Reader) digest() error {
	if b.long.take == nil {
		b.begin()
	}
	if b.pieces == nil {
		b.pieces = make([]byte, text.PieceMost)
	}
	for b.long.left > 0 && b.wrong == nil {
		p := b.rest
		if len(p) == 0 {
			n, err := b.fetch(b.pieces)
			if n == 0 && err != nil {
				return err
			}
			p = b.pieces[:n]
		}
		n := min(len(p), b.long.left)
		b.long.take(p[:n])
		b.pace.said += cost(b.long.kind, n)
		b.long.left -= n
		b.rest = p[n:]
	}
	b.ready, b.long, b.pieces = b.long.end(), nil, nil
	return nil
}
