package exec

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
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

// Failure is the server's last word, as the row of the task that it met shows it.
func (l *Lost) Failure(statement string) *text.Failure { return text.ServerFailure(l.Fatal, statement) }

// What the protocol allows a server to say. Whoever breaks it is not listened to any more: what
// comes next could be anything.

// unexpected is the loss of a session whose server has sent what has no place there.
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

// isNetwork tells an error of the connection from that of a message that can't be read. A
// connection's end is never io.EOF here, as that of a text in a message is.
func isNetwork(err error) bool {
	var network net.Error
	var system syscall.Errno
	return errors.As(err, &network) || errors.As(err, &system) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// notBegun takes down that a session was lost before any SQL was sent.
func notBegun(err error) error {
	if lost := new(Lost); errors.As(err, &lost) {
		lost.Unbegun = true
	}
	return err
}

// fatal tells an error that ends the session. Severity alone counts: SQL can raise any code, but
// none of its errors is FATAL.
func fatal(e *pgproto3.ErrorResponse) bool {
	severity := e.SeverityUnlocalized
	if severity == "" {
		severity = e.Severity
	}
	return severity == "FATAL" || severity == "PANIC"
}

// copyError keeps an error beyond the next message.
func copyError(e *pgproto3.ErrorResponse) *pgproto3.ErrorResponse {
	c := *e
	return &c
}
