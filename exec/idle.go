package exec

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

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
