package bound

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/time/rate"

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

	in     *bufio.Reader // reads from, at its pace
	header [5]byte       // of the message under way
	ready  []byte        // to be passed on before anything else
	left   int           // bytes of a short message that are still to be passed on
	long   *long         // the long message under way
	wrong  error         // what the server has sent makes no sense
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
func (b *Reader) Read(p []byte) (n int, err error) {
	if b.in == nil {
		b.in = bufio.NewReaderSize(paced{b}, readMost)
	}
	for n < len(p) && b.wrong == nil {
		if n > 0 && len(b.ready) == 0 && (b.long != nil || b.in.Buffered() < len(b.header)) {
			break // what comes before a long message is taken first
		}
		taken := 0
		switch {
		case len(b.ready) > 0:
			taken = copy(p[n:], b.ready)
			b.ready = b.ready[taken:]
		case b.long != nil:
			err = b.digest()
		case b.left > 0:
			taken, err = b.in.Read(p[n:][:min(len(p)-n, b.left)])
			b.left -= taken
		default:
			err = b.next()
		}
		if n += taken; err != nil {
			break
		}
	}
	if n > 0 {
		return n, nil // an error comes again
	}
	return 0, cmp.Or(b.wrong, err)
}

// readMost is how many bytes are read at once.
const readMost = 8 << 10

// paced reads from the connection, at the pace of what it has brought before.
type paced struct{ *Reader }

func (b paced) Read(p []byte) (int, error) {
	if !b.whole {
		b.pace.wait(b.output)
	}
	return b.from.Read(p)
}

// next reads the header of a message, and decides whether that is passed on.
func (b *Reader) next() error {
	head, err := b.in.Peek(len(b.header))
	if err != nil {
		return err
	}
	copy(b.header[:], head)
	_, _ = b.in.Discard(len(head))
	kind, length := b.header[0], int(int32(binary.BigEndian.Uint32(b.header[1:])))-4
	if length < 0 {
		b.ready, b.left = b.header[:], math.MaxInt // pgproto3 will say what is wrong
		return nil
	}
	if !b.greeted && !b.whole {
		if b.sent += len(b.header) + length; b.sent > greetMost {
			b.wrong = errLongGreet
			return nil
		}
	}
	proves := kind == 'R' && !b.greeted
	if length <= messageMost && !proves || kind == 'D' && b.whole || kind == 'T' && length <= columnsMost {
		b.ready, b.left = b.header[:], length
		b.pace.said += saidEach + cost(kind, length)
		return nil
	}
	b.long = &long{kind: kind, left: length}
	return nil
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
	piece := make([]byte, min(text.PieceMost, b.long.left))
	for b.long.left > 0 && b.wrong == nil {
		n, err := b.in.Read(piece[:min(len(piece), b.long.left)])
		if err != nil {
			return err
		}
		b.long.take(piece[:n])
		b.pace.said += cost(b.long.kind, n)
		b.long.left -= n
	}
	b.ready, b.long = b.long.end(), nil
	return nil
}

// Own limits the memory that our own connections with this configuration take for what the server
// sends. Errors, notices and the data of COPY are cut. Rows are passed on whole: our queries limit
// them.
func Own(cfg *pgconn.Config) {
	bounded(cfg, func(b *Reader) { b.whole = true })
}

// Tasks does the same for connections on which tasks run, in the target's own database or
// elsewhere, and calls tell with the reader of each. trusted: the session is the serving role's,
// whose password is its own. Others wait for their proof of a password, until ctx ends.
func Tasks(ctx context.Context, cfg *pgconn.Config, own, trusted bool, tell func(*Reader)) {
	bounded(cfg, func(b *Reader) {
		if b.pace.own = own; !trusted {
			b.login.waits = ctx
		}
		tell(b)
	})
}

// bounded puts a Reader into each connection that is made with the configuration.
func bounded(cfg *pgconn.Config, tell func(*Reader)) {
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		b := &Reader{from: r}
		tell(b)
		return build(b, w)
	}
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

// Everything that a server says costs processor time, even if it is of no use: a notice takes a few
// bytes. A task can name a server of its author's, which could use up all processors that way. So
// messages that add no output are free only up to what the row can show. Beyond that they are read
// at a limited pace, which SQL hardly reaches.

// Each read costs bytes of a shared pace: one for all remotes, since a task may name any number of
// them, and one for sessions in targets' own databases, which never wait for what remotes say.
const (
	saidEach = 32  // a message, beside its length
	saidRead = 512 // whatever is read at once: a server may send each byte by itself
	rowShare = 8   // rows and the data of COPY cost a part of their length
	paidBack = 32  // what the output grows by pays for so much

	saidFree = 256 << 10 // bytes of a task that wait for nobody
	saidRate = 32 << 20  // bytes a second, of all that share it: a tenth or two of one processor, at worst a half
	saidMost = 1 << 20   // of those, at once
	saidTurn = 32 << 10  // that one task may have before it is others' turn
)

// cost is what so many bytes of a message of the kind cost.
func cost(kind byte, length int) int {
	if kind == 'D' || kind == 'd' {
		return length / rowShare
	}
	return length
}

var ofRemotes, ofOwn = rate.NewLimiter(saidRate, saidMost), rate.NewLimiter(saidRate, saidMost)

// pace is what the server has said since the task began, and what of that has been paid for.
type pace struct {
	own  bool // of a session in the target's own database
	said int  // bytes that are not paid for
	paid int  // bytes of the output that have paid
}

// wait returns when more may be read.
func (c *pace) wait(output *text.Output) {
	if output != nil {
		grown := max(c.paid, output.Len()) // a part may have been taken back
		c.said = max(0, c.said-paidBack*(grown-c.paid))
		c.paid = grown
	}
	shared := ofRemotes
	if c.own {
		shared = ofOwn
	}
	for c.said > saidFree {
		n := min(c.said-saidFree, saidTurn)
		_ = shared.WaitN(context.Background(), n) // what is less than saidMost can't fail
		c.said -= n
	}
	c.said += saidRead
}
