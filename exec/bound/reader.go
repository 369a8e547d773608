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

// Limits in bytes. messageMost and columnsMost are the longest messages that a Reader passes on
// whole. greetMost limits everything that a server sends before the first task.
const (
	messageMost = 16 << 10
	columnsMost = 256 << 10 // for RowDescription: 1,664 columns with the longest names take 140 kB
	greetMost   = 1 << 20
)

var (
	errLongMessage = errors.New("the server sent a message that is too long")
	errLongGreet   = errors.New("the server sent too much before the first task")
)

// Reader reads what a server sends. It belongs to the goroutine that reads.
type Reader struct {
	from    io.Reader
	whole   bool         // passes on rows of any length
	greeted bool         // the first task has begun
	sent    int          // bytes received until then
	output  *text.Output // of the query under way; nil: drop its long rows
	pace    pace
	login   login

	in     *bufio.Reader // reads the field from, at the pace
	header [5]byte       // of the message under way
	ready  []byte        // bytes to pass on before anything else
	left   int           // bytes of a short message still to pass on
	long   *long         // the long message under way
	wrong  error         // the server has broken the protocol or a limit
}

// long is a long message, taken in pieces.
type long struct {
	kind byte
	left int           // bytes still to come
	take func([]byte)  // takes the next bytes, and keeps no reference to them
	end  func() []byte // returns a short message in its place; nil: none
}

// AskedForPassword tells whether the server has asked for a password in any form.
func (b *Reader) AskedForPassword() bool { return b.login.asked }

// Greeted says that the first task begins. It ends the limit greetMost.
func (b *Reader) Greeted() { b.greeted = true }

// Task sets the output for the long rows of the task under way; nil: no task is under way.
func (b *Reader) Task(output *text.Output) {
	b.output, b.pace = output, pace{own: b.pace.own}
}

// Read passes on short messages. It may be called again after an error of the connection.
func (b *Reader) Read(p []byte) (n int, err error) {
	if b.in == nil {
		b.in = bufio.NewReaderSize(paced{b}, readMost)
	}
	for n < len(p) && b.wrong == nil {
		if n > 0 && len(b.ready) == 0 && (b.long != nil || b.in.Buffered() < len(b.header)) {
			break // pgproto3 takes earlier messages before a long one
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
		return n, nil // the next Read returns the error
	}
	return 0, cmp.Or(b.wrong, err)
}

// readMost is the size of one read, in bytes.
const readMost = 8 << 10

// paced reads from the connection. It first waits for its share of the pace.
type paced struct{ *Reader }

func (b paced) Read(p []byte) (int, error) {
	if !b.whole {
		b.pace.wait(b.output)
	}
	return b.from.Read(p)
}

// next reads the header of a message, and decides whether to pass the message on.
func (b *Reader) next() error {
	head, err := b.in.Peek(len(b.header))
	if err != nil {
		return err
	}
	copy(b.header[:], head)
	_, _ = b.in.Discard(len(head))
	kind, length := b.header[0], int(int32(binary.BigEndian.Uint32(b.header[1:])))-4
	if length < 0 {
		b.ready, b.left = b.header[:], math.MaxInt // pgproto3 will return the error
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

// begin decides how to take a long message. pgproto3 has everything before it by then.
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
	case kind == 'd' && b.whole: // a replication stream: the head of its message is enough
		var head []byte
		b.long.take = func(p []byte) { head = append(head, p[:min(len(p), headKept-len(head))]...) }
		b.long.end = func() []byte { return encoded('d', head) }
	case kind != 'D' && kind != 'd' && kind != 'S' && kind != 'A': // our settings and notifications are short
		b.wrong = errLongMessage
	}
}

// headKept is how many bytes of COPY data a Reader keeps if there is no output for it.
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

// Own limits the memory that server messages take on our own connections with this configuration.
// It cuts errors, notices and COPY data. It passes rows on whole: our queries limit them.
func Own(cfg *pgconn.Config) {
	bounded(cfg, func(b *Reader) { b.whole = true })
}

// Tasks does the same for connections that run tasks, and calls tell with the reader of each. own:
// they go to the target's own database. trusted: they use the serving role and its own password.
// Other logins wait for the budget of their password proof, until ctx ends.
func Tasks(ctx context.Context, cfg *pgconn.Config, own, trusted bool, tell func(*Reader)) {
	bounded(cfg, func(b *Reader) {
		if b.pace.own = own; !trusted {
			b.login.waits = ctx
		}
		tell(b)
	})
}

// bounded puts a Reader into each connection made with this configuration.
func bounded(cfg *pgconn.Config, tell func(*Reader)) {
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		b := &Reader{from: r}
		tell(b)
		return build(b, w)
	}
}

// CopyData waits for the next COPY data of the server, for example from a replication stream. The
// data is valid until the next call. The error is io.EOF when the server ends the COPY, and a
// *pgconn.PgError when the COPY fails. If ctx ends first, the connection stays as it is, and
// CopyData can be called again.
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

// Every message of a server costs processor time, even a useless notice of a few bytes. A task can
// name its author's own server, and that server could use up all our processors. So messages that
// add no output are free only up to the size that the row can show. We read further ones at a
// limited pace, which SQL hardly ever reaches.

// Each read uses up bytes of a shared pace. All remotes share one pace, because a task may name any
// number of remotes. Sessions in the targets' own databases share another, so that they never wait
// for remotes.
const (
	saidEach = 32  // for each message, beside its length
	saidRead = 512 // for each read: a server may send single bytes
	rowShare = 8   // rows and COPY data cost this part of their length
	paidBack = 32  // each byte of new output pays for this many bytes

	saidFree = 256 << 10 // bytes of a task that need no pace
	saidRate = 32 << 20  // bytes a second for all readers of one pace: 10 to 20 % of one processor, at worst 50 %
	saidMost = 1 << 20   // burst of the pace, in bytes
	saidTurn = 32 << 10  // bytes that one task takes from the pace at a time
)

// cost returns the cost of this many bytes of a message of this kind.
func cost(kind byte, length int) int {
	if kind == 'D' || kind == 'd' {
		return length / rowShare
	}
	return length
}

var ofRemotes, ofOwn = rate.NewLimiter(saidRate, saidMost), rate.NewLimiter(saidRate, saidMost)

// pace counts the cost of the server's messages since the task began, and the payments by output.
type pace struct {
	own  bool // the session is in the target's own database
	said int  // unpaid cost, in bytes
	paid int  // bytes of output that have already paid
}

// wait waits until the next read is allowed.
func (c *pace) wait(output *text.Output) {
	if output != nil {
		grown := max(c.paid, output.Len()) // the output may have taken a part back
		c.said = max(0, c.said-paidBack*(grown-c.paid))
		c.paid = grown
	}
	shared := ofRemotes
	if c.own {
		shared = ofOwn
	}
	for c.said > saidFree {
		n := min(c.said-saidFree, saidTurn)
		_ = shared.WaitN(context.Background(), n) // can't fail: n is less than saidMost
		c.said -= n
	}
	c.said += saidRead
}
