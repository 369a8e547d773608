package exec

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// A server may end a session while nothing is under way on it, and a network may forget its
// connection. Whoever sends a task then can't always tell whether it has begun. So the session is
// looked at first.

// Present is an error, a *Lost, if the session is gone. It costs a system call: what the server
// has said last, or that it has hung up, waits in the socket. One that has said anything else is
// given up as well.
func (s *Session) Present() error {
	if s.cancel.runs() || len(s.pipeline.behind) > 0 || s.wire.front.ReadBufferLen() == 0 && !readable(s.wire.conn.Conn()) {
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
	defer s.wire.crew.When(ctx, s.Abandon)()
	s.wire.within(answersMost)
	defer s.wire.unlimited()
	_, err := s.wire.exchange(nil)
	return notBegun(err)
}

// answersMost is how long a server that does nothing else may take to answer: another session is
// opened sooner.
const answersMost = 5 * time.Second

// Touch has the server show that somebody still has the session, though nothing runs on it. It does
// nothing where something does, or a transaction is open. The error is a *Lost.
func (s *Session) Touch() error {
	if s.wire.status != 'I' || s.cancel.runs() || len(s.pipeline.behind) > 0 {
		return nil
	}
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	_, err := s.wire.ask("")
	return err
}
