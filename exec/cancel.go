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
	TimedOut            // it ran longer than its timeout
	Stopped             // its row was set to STOP, or deleted
	Drained             // the controller shuts down
)

// Obey is how long a cancelled run may take to end before its session is abandoned.
// docs/reference.md says this about `timeout`.
const Obey = 10 * time.Second

// canceller lets other goroutines cancel the run under way. The session sets the first four fields
// before its first task.
type canceller struct {
	obey    time.Duration // Obey
	request func(context.Context) error
	cut     func()         // abandons the session
	crew    *routine.Group // owns the goroutine and the timers

	timeout func() bool // stops the timer of the run under way; the session's goroutine owns it

	mu        sync.Mutex
	running   bool      // the server has an input
	began     time.Time // start of the run
	reason    Reason
	over      chan struct{} // closed when the cancelled run has ended
	delivered chan struct{} // closed when no request is on its way any more; exit awaits it
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
	c.crew.Go(func() {
		defer close(delivered)
		ctx, cancel := context.WithTimeout(context.Background(), c.obey)
		defer cancel()
		for pause := missedWait; ; pause *= 2 {
			_ = c.request(ctx) // if the request fails, the timer abandons the session
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

// A server ignores a cancel request that comes while it still reads the statement. For a run
// younger than missedFor we repeat the request after missedWait. Each further pause is twice as
// long, so that SQL has time to clean up after a cancel.
const (
	missedFor  = time.Second
	missedWait = 250 * time.Millisecond
)

// enter starts the time in which a run can be cancelled, exit ends it. When exit has returned, no
// cancel request of ours is on its way. Our timer is 5 ms late, so that the server's
// statement_timeout usually comes first.
func (c *canceller) enter(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.began, c.reason = true, time.Now(), NotCancelled
	if limit > 0 {
		c.timeout = c.crew.After(min(limit, mostTimeout)+5*time.Millisecond, func() { c.cancel(TimedOut) })
	}
}

// mostTimeout is longer than any run, and short enough that the sum above does not overflow.
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

// runs tells whether the server has an input.
func (c *canceller) runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// asked tells whether the run was cancelled.
func (c *canceller) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason != NotCancelled
}

// Lost is the error of a session that is gone: its connection broke, or the server ended it with a
// FATAL error.
type Lost struct {
	Fatal *pgproto3.ErrorResponse // the server's FATAL error; nil if it sent none
	Cause error

	Broken  bool // the server has broken the protocol
	Unbegun bool // the SQL of Begin has certainly not begun
}

func (l *Lost) Error() string {
	if l.Fatal != nil {
		return fmt.Sprintf("session lost: %s (SQLSTATE %s)", l.Fatal.Message, l.Fatal.Code)
	}
	return "session lost: " + l.Cause.Error()
}

func (l *Lost) Unwrap() error { return l.Cause }

// unexpected returns the loss of a session whose server has sent a message out of place. We read
// nothing more from this server.
func unexpected(message pgproto3.BackendMessage) *Lost {
	return &Lost{Cause: fmt.Errorf("the server sent an unexpected message: %T", message), Broken: true}
}

// cut returns the loss of a session after its connection failed to give the next message.
func cut(failure *pgproto3.ErrorResponse, cause error) *Lost {
	if failure != nil && !fatal(failure) {
		failure = nil
	}
	return &Lost{Fatal: failure, Cause: cause, Broken: !isNetwork(cause)}
}

// isNetwork tells whether an error comes from the connection, not from an unreadable message. The
// end of a connection is never io.EOF here; io.EOF means that a text in a message is cut short.
func isNetwork(err error) bool {
	var network net.Error
	var system syscall.Errno
	return errors.As(err, &network) || errors.As(err, &system) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// notBegun marks a *Lost: the task's SQL was not sent.
func notBegun(err error) error {
	if lost := new(Lost); errors.As(err, &lost) {
		lost.Unbegun = true
	}
	return err
}

// fatal tells whether an error ends the session. Only the severity proves this: SQL can raise any
// code, but no FATAL error.
func fatal(e *pgproto3.ErrorResponse) bool {
	severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
	return severity == "FATAL" || severity == "PANIC"
}

// copyError copies an error, because pgproto3 reuses the message for the next one.
func copyError(e *pgproto3.ErrorResponse) *pgproto3.ErrorResponse {
	c := *e
	return &c
}

// A server may end an idle session, and a network may forget its connection. If we send a task
// then, we can't always tell whether it has begun. So we look at the session first.

// Present returns a *Lost if the session is gone. It costs one system call: the last error, or the
// end of the connection, waits in the socket. Present gives up a session that has any other unread
// message, too.
func (s *Session) Present() error {
	if s.cancel.runs() || len(s.pipeline.behind) > 0 || s.wire.front.ReadBufferLen() == 0 && !readable(s.wire.conn.Conn()) {
		return nil
	}
	return &Lost{Cause: errors.New("the session was ended while it was idle"), Unbegun: true}
}

// readable tells whether a read would return at once: with the end, an error, or any bytes.
func readable(conn net.Conn) (is bool) {
	socket, ok := beneath(conn).(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	// Not by raw.Read, which would wait for a read of pgx that may be under way in the background.
	if err := raw.Control(func(fd uintptr) { is = waits(fd) }); err != nil {
		return true
	}
	return is
}

// Answers returns a *Lost if the server does not answer within answersMost.
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

// answersMost limits the time for the answer of an idle session: opening a new session is faster.
const answersMost = 5 * time.Second

// Touch shows the server that the idle session is still in use. It does nothing while a task runs
// or a transaction is open. The error is a *Lost.
func (s *Session) Touch() error {
	if s.wire.status != 'I' || s.cancel.runs() || len(s.pipeline.behind) > 0 {
		return nil
	}
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	_, err := s.wire.ask("")
	return err
}
