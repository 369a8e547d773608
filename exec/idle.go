package exec

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server may end a session while nothing is under way on it, and a network may forget its
// connection. Whoever sends a task then can't always tell whether it has begun. So the session is
// looked at first.

// Present is an error, a *Lost, if the session is gone. It costs a system call: what the server
// has said last, or that it has hung up, waits in the socket. One that has said anything else is
// given up as well.
func (s *Session) Present() error {
	if s.cancel.runs() || len(s.behind) > 0 || s.front.ReadBufferLen() == 0 && !readable(s.conn.Conn()) {
		return nil
	}
	return &Lost{Cause: errors.New("the session was ended while it was idle"), Unbegun: true}
}

// readable tells whether a read from the connection would not have to wait, as there is something,
// an end or an error. Bytes that are no message yet count too.
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
	defer s.crew.When(ctx, s.Abandon)()
	s.within(answersMost)
	defer s.limited(false)
	s.sync()
	err := s.flush()
	if err == nil {
		err = s.synced()
	}
	return notBegun(err)
}

// notBegun takes down that a session was lost before any SQL was sent.
func notBegun(err error) error {
	if lost := new(Lost); errors.As(err, &lost) {
		lost.Unbegun = true
	}
	return err
}

// answersMost is how long a server that does nothing else may take to answer: another session is
// opened sooner.
const answersMost = 5 * time.Second

// unbegun takes down that the SQL which was to be sent, or was, has certainly not begun: nothing of
// it has left us, or the server ended the session before it answered what precedes it. It answers
// that before it reads on. A proxy between us may lose answers: its own last words prove nothing.
func (s *Session) unbegun(err error) error {
	lost := new(Lost)
	if !errors.As(err, &lost) {
		return err
	}
	own := lost.Fatal != nil && (strings.HasPrefix(lost.Fatal.Code, "57P0") || lost.Fatal.Code == "25P03" ||
		lost.Fatal.Code == "25P04")
	lost.Unbegun = lost.Unbegun || own || !s.written && pgconn.SafeToRetry(lost.Cause)
	return err
}

// Touch has the server show that somebody still has the session, though nothing runs on it. It does
// nothing where something does, or a transaction is open. The error is a *Lost.
func (s *Session) Touch() error {
	if s.status != 'I' || s.cancel.runs() || len(s.behind) > 0 {
		return nil
	}
	s.within(s.brief)
	defer s.limited(false)
	s.query("")
	if err := s.flush(); err != nil {
		return err
	}
	_, err := s.answer(sink{})
	return err
}
