package exec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgproto3"
)

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
