package exec

import (
	"context"
	"time"
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

// Obey is how long a cancelled run may take to end before it is abandoned: SEMANTICS "How a task runs", timeout.
const Obey = 10 * time.Second

// Cancel asks the server to cancel the run under way, and abandons it when it has not ended after Obey. It returns at once,
// and does nothing when no run is under way or it has been cancelled before.
func (s *Session) Cancel(reason Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running || s.cancelled != NotCancelled {
		return
	}
	s.cancelled = reason
	delivered := make(chan struct{})
	s.canceling = delivered
	s.abandon = s.crew.After(s.obey, s.Abandon)
	s.crew.Go(func() { // awaited by settle, too
		defer close(delivered)
		ctx, cancel := context.WithTimeout(context.Background(), s.obey)
		defer cancel()
		_ = s.conn.CancelRequest(ctx) // a request that fails leaves the run to be abandoned
	})
}

// enter and settle enclose the time in which a run can be cancelled. Once settle has returned no cancel of ours is on its way. The server's
// own statement_timeout comes before the limit where it can.
func (s *Session) enter(limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.cancelled = true, NotCancelled
	if limit > 0 {
		s.deadline = s.crew.After(min(limit, mostTimeout)+5*time.Millisecond, func() { s.Cancel(TimedOut) })
	}
}

// mostTimeout is longer than any run, and short enough to add to it.
const mostTimeout = 100 * 365 * 24 * time.Hour

func (s *Session) settle() Reason {
	s.mu.Lock()
	s.running = false
	reason, canceling := s.cancelled, s.canceling
	s.canceling = nil
	if s.abandon != nil {
		s.abandon()
		s.abandon = nil
	}
	s.mu.Unlock()
	if s.deadline != nil {
		s.deadline()
		s.deadline = nil
	}
	if canceling != nil {
		<-canceling
	}
	return reason
}
