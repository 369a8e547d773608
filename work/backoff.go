package work

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pauses between tries of a target that fails: the first, and the longest where
// the server can't be reached or has no room, or where something else is wrong.
// A server comes back by itself; a missing right or a wrong password waits for a
// person, who does not want to wait for us then.
const (
	firstPause  = 100 * time.Millisecond
	awayPause   = 2 * time.Second
	faultyPause = 5 * time.Second
)

// pause is how long to wait after the given number of failures in a row, at
// least 1. Up to a quarter is taken off at random, so that the targets of a
// server that comes back do not all return at once.
func pause(failures int, err error) time.Duration {
	longest := faultyPause
	if isAway(err) {
		longest = awayPause
	}
	length := longest
	if shift := failures - 1; shift < 16 {
		length = min(firstPause<<shift, longest)
	}
	return length - rand.N(length/4+1)
}

// isAway reports whether err means that the server is not there now, or does not
// take what we want to write, or has no room for us.
func isAway(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch {
		case strings.HasPrefix(answer.Code, "08"), // connection exception
			strings.HasPrefix(answer.Code, "53"),  // insufficient resources
			strings.HasPrefix(answer.Code, "57P"), // shut down, crashed, starting up
			answer.Code == "25006",                // it takes no writes
			answer.Code == "55P03":                // somebody has locked the table
			return true
		}
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.Is(err, errRecovery) || errors.Is(err, errReadOnly) || errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE)
}
