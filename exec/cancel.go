package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/routine"
)

// Reason says why a run was cancelled.
type Reason int

// The reasons to cancel a run.
const (
	NotCancelled Reason = iota
	TimedOut            // it outlived its timeout
	Stopped             // its row was set to STOP, or deleted
	Drained             // the controller ends
)

// Obey is how long a cancelled run may take to end before it is abandoned, as docs/reference.md says of
// `timeout`.
const Obey = 10 * time.Second

// canceller lets others cancel the run under way. The session sets the first four fields before its
// first task.
type canceller struct {
	obey    time.Duration // Obey
	request func(context.Context) error
	cut     func()         // abandons the session
	crew    *routine.Group // what it starts belongs to

	timeout func() bool // stops the timer of the run under way; the session's goroutine owns it

	mu        sync.Mutex
	running   bool      // an input is with the server
	began     time.Time // since then
	reason    Reason
	over      chan struct{} // of a run that is cancelled: closed when it has ended
	delivered chan struct{} // closed when no request is on its way any more
	abandon   func() bool   // stops the timer that abandons the session
}

func (c *canceller) cancel(reason Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running || c.reason != NotCancelled {
		return
	}
	c.reason = reason
	over, delivered := make(chan struct{}), make(chan struct{})
	c.over, c.delivered = over, delivered
	c.abandon = c.crew.After(c.obey, c.cut)
	young := time.Since(c.began) < missedFor
	c.crew.Go(func() { // awaited by exit, too
		defer close(delivered)
		ctx, cancel := context.WithTimeout(context.Background(), c.obey)
		defer cancel()
		for pause := missedWait; ; pause *= 2 {
			_ = c.request(ctx) // a request that fails leaves the run to be abandoned
			if !young {
				return
			}
			select {
			case <-over:
				return
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
}

// A server ignores a request that comes while it still reads the statement. For a run younger than
// missedFor the request is repeated after missedWait, and then ever more rarely, so that SQL can
// clean up after a cancel.
const (
	missedFor  = time.Second
	missedWait = 250 * time.Millisecond
)

// enter and exit enclose the time in which a run can be cancelled. When exit has returned, no
// cancel of ours is on its way. The server's own statement_timeout comes first if it can.
func (c *canceller) enter(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.began, c.reason = true, time.Now(), NotCancelled
	if limit > 0 {
		c.timeout = c.crew.After(min(limit, mostTimeout)+5*time.Millisecond, func() { c.cancel(TimedOut) })
	}
}

// mostTimeout is longer than any run, and short enough to add to it.
const mostTimeout = 100 * 365 * 24 * time.Hour

func (c *canceller) exit() Reason {
	c.mu.Lock()
	c.running = false
	reason, delivered := c.reason, c.delivered
	c.delivered = nil
	if delivered != nil {
		close(c.over)
	}
	if c.abandon != nil {
		c.abandon()
		c.abandon = nil
	}
	c.mu.Unlock()
	if c.timeout != nil {
		c.timeout()
		c.timeout = nil
	}
	if delivered != nil {
		<-delivered
	}
	return reason
}

// runs tells whether an input is with the server, and asked whether it has been cancelled.
func (c *canceller) runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

func (c *canceller) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason != NotCancelled
}

// Lost is the end of a session: the connection is gone, by itself or with a FATAL error of the
// server's.
type Lost struct {
	Fatal *pgproto3.ErrorResponse // the server's last word, nil when there was none
	Cause error

	Broken  bool // the server has broken the protocol
	Unbegun bool // the SQL that Begin was to send has certainly not begun
}

func (l *Lost) Error() string {
	if l.Fatal != nil {
		return fmt.Sprintf("session lost: %s (SQLSTATE %s)", l.Fatal.Message, l.Fatal.Code)
	}
	return "session lost: " + l.Cause.Error()
}

func (l *Lost) Unwrap() error { return l.Cause }

// unexpected is the loss of a session whose server has sent a message that has no place there.
// Nothing more is read from such a server.
func unexpected(message pgproto3.BackendMessage) *Lost {
	return &Lost{Cause: fmt.Errorf("the server sent an unexpected message: %T", message), Broken: true}
}

// cut is the loss of a session whose connection gives no more messages.
func cut(failure *pgproto3.ErrorResponse, cause error) *Lost {
	if failure != nil && !fatal(failure) {
		failure = nil
	}
	return &Lost{Fatal: failure, Cause: cause, Broken: !isNetwork(cause)}
}

// isNetwork tells an error of the connection from one of a message that can't be read. The end of a
// connection is never io.EOF here, but that of a text in a message is.
func isNetwork(err error) bool {
	var network net.Error
	var system syscall.Errno
	return errors.As(err, &network) || errors.As(err, &system) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// notBegun notes on a *Lost that no SQL was sent before.
func notBegun(err error) error {
	if lost := new(Lost); errors.As(err, &lost) {
		lost.Unbegun = true
	}
	return err
}

// fatal tells an error that ends the session. Severity alone counts: SQL can raise any code, but
// none of its errors is FATAL.
func fatal(e *pgproto3.ErrorResponse) bool {
	severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
	return severity == "FATAL" || severity == "PANIC"
}

// copyError keeps an error after the next message is read.
func copyError(e *pgproto3.ErrorResponse) *pgproto3.ErrorResponse {
	c := *e
	return &c
}

// A server may end an idle session, and a network may forget its connection. If a task is sent
// then, we can't always tell whether it has begun. So we look at the session first.

// Present is an error, a *Lost, if the session is gone. It costs one system call: a last word, or
// the end of the connection, waits in the socket. A session whose server has said anything else is
// given up as well.
func (s *Session) Present() error {
	if s.cancel.runs() || len(s.pipeline.behind) > 0 || s.wire.front.ReadBufferLen() == 0 && !readable(s.wire.conn.Conn()) {
		return nil
	}
	return &Lost{Cause: errors.New("the session was ended while it was idle"), Unbegun: true}
}

// readable tells whether a read would return at once: with bytes, an end or an error. Bytes that
// are no message yet count too.
func readable(conn net.Conn) (is bool) {
	socket, ok := beneath(conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	if err := raw.Read(func(fd uintptr) bool { is = waits(fd); return true }); err != nil {
		return true
	}
	return is
}

// Answers is an error, a *Lost, if the server does not answer within a few seconds.
func (s *Session) Answers(ctx context.Context) error {
	if err := s.Present(); err != nil {
		return err
	}
	defer s.wire.crew.When(ctx, s.Abandon)()
	s.wire.within(answersMost)
	defer s.wire.unlimited()
	_, err := s.wire.exchange(nil)
	return notBegun(err)
}

// answersMost is how long an idle server may take to answer: a new session is opened sooner than
// that.
const answersMost = 5 * time.Second

// Touch shows the server that the session is still used, though no task runs on it. It does nothing
// while a task runs or a transaction is open. The error is a *Lost.
func (s *Session) Touch() error {
	if s.wire.status != 'I' || s.cancel.runs() || len(s.pipeline.behind) > 0 {
		return nil
	}
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	_, err := s.wire.ask("")
	return err
}
