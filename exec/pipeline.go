package exec

import (
	"slices"
	"time"
)

// Queries that are over in no time are sent several at once: the exchange of messages costs more
// than they do. Each has a transaction, a reset and settings of its own, as if it were sent when
// the one before is over, but that it must begin in time: what a query that takes longer than
// expected has kept waiting is passed over, and starts again when its turn has come.
//
// None of them may have an effect, since nothing has prepared its row: the question that follows each
// makes that an error, by which the server passes over all the rest.
//
// More can be sent after them while they are under way, so that the server need not wait for us.
// What is sent at once ends with a Sync, by which the server is ready when it hears no more of us,
// and its limits for a silent session hold. After a failure it is ready there, too, and goes on: so
// what is sent later begins with a statement that fails in a transaction that has failed.

// Behind is how many tasks are with the server after the one under way.
func (s *Session) Behind() int { return len(s.pipeline.behind) }

// Takes tells whether more can be sent after the tasks that are with the server.
func (s *Session) Takes() bool { return s.pipeline.open && !s.cancel.asked() }

// goesOn fails where what was sent before has failed. Where even the transaction is gone, COMMIT
// AND CHAIN after it does.
const goesOn = "SELECT"

// Extend sends more tasks after those that are with the server, of which one is under way. What
// becomes of the session by that Await tells.
func (s *Session) Extend(then ...*Task) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	s.setup.call(goesOn)
	s.sendBehind(then)
	if s.wire.flush() != nil {
		s.Abandon()
	}
}

// sendBehind queues all that belongs to tasks that follow on another.
func (s *Session) sendBehind(then []*Task) {
	s.pipeline.behind = slices.Grow(s.pipeline.behind, len(then))
	for i, next := range then {
		q := queued{task: next}
		s.setup.state.left(s.pipeline.last)
		s.pipeline.last = next
		chained := s.setup.chains(next)
		s.setup.commit(chained)
		q.tail = s.wire.queued()
		s.setup.prepare(next, chained, next.Until)
		q.prepared = s.wire.queued()
		s.wire.input(next.Input)
		if i == len(then)-1 && next.Query { // we may never be heard of again
			q.probing = s.question.ask(next)
		} else {
			q.probing = s.question.askAhead(next)
		}
		s.pipeline.behind = append(s.pipeline.behind, q)
	}
	s.wire.sync()
	s.pipeline.open = true
}

// Next goes on to the task after the one that has run, once its transaction is seen to be open:
// its SQL is under way then, since start by the server's clock. When begun is false the server has
// passed over it and all after it, or, when there is an error too, may have. The verdict is on the
// task before.
func (s *Session) Next() (verdict *Verdict, start time.Time, begun bool, err error) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	q := s.pipeline.behind[0]
	s.pipeline.behind = s.pipeline.behind[1:]
	verdict, passed, err := s.readTail(&Tail{}, q.tail)
	if err != nil || passed {
		s.pipeline.behind = nil
		return verdict, start, false, err
	}
	start, failure, err := s.setup.read(q.prepared)
	switch {
	case err != nil:
		return verdict, start, false, err
	case failure != nil:
		s.pipeline.behind = nil
		return verdict, start, false, nil
	}
	s.pipeline.probing = q.probing
	s.cancel.enter(q.task.Timeout)
	return verdict, start, true, nil
}
