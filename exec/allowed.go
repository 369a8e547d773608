package exec

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What the protocol allows a server to say. Whoever breaks it is not listened to any more: what
// comes next could be anything.

// unexpected is the loss of a session whose server has sent what has no place there.
func unexpected(message pgproto3.BackendMessage) *Lost {
	return &Lost{Cause: fmt.Errorf("the server sent an unexpected message: %T", message), Broken: true}
}

// cut is the loss of a session whose connection gives no more messages.
func cut(failure *pgproto3.ErrorResponse, cause error) *Lost {
	return &Lost{Fatal: onlyFatal(failure), Cause: cause, Broken: !isNetwork(cause)}
}

// isNetwork tells an error of the connection from that of a message that can't be read. A
// connection's end is never io.EOF here, as that of a text in a message is.
func isNetwork(err error) bool {
	var network net.Error
	var system syscall.Errno
	return errors.As(err, &network) || errors.As(err, &system) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// sqlstate is a code as rows hold it, whatever the server has sent.
func sqlstate(code string) string {
	const unreadable = "08P01" // protocol_violation
	if len(code) != 5 {
		return unreadable
	}
	for _, c := range []byte(code) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return unreadable
		}
	}
	return code
}
