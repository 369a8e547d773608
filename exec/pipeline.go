package exec

import (
	"slices"
	"time"
)

// Short queries are sent several at once, because the exchange of messages costs more than they do.
// Each has a transaction, a reset and settings of its own, as if it were sent alone. But it must
// begin in time: if a query takes longer than expected, the server skips those after it, and they
// start again when their turn has come.
//
// None of them may have an effect, since its row is not prepared. The question after each makes an
// effect an error, and the server skips all the rest.
//
// More can be sent while they are under way, so that the server need not wait for us. Everything
// that is sent at once ends with a Sync: there the server becomes ready, and its limits for a
// silent session hold. It becomes ready there after a failure, too, and goes on. So what is sent
// later begins with a statement that fails in a failed transaction.

// Behind is how many tasks are with the server after the one under way.
func (s *Session) Behind() int { return len(s.pipeline.behind) }

// Takes tells whether Extend may send more.
func (s *Session) Takes() bool { return s.pipeline.open && !s.cancel.asked() }

// goesOn fails if something before it has failed. If even the transaction is gone, the COMMIT AND
// CHAIN after it fails.
const goesOn = "SELECT"

// Extend sends more tasks after those that are with the server, of which one is under way. Await
// tells of an error.
func (s *Session) Extend(then ...*Task) {
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	s.setup.call(goesOn)
	s.sendBehind(then)
	if s.wire.flush() != nil {
		s.Abandon()
	}
}

// sendBehind queues tasks after another one, each with all that belongs to it.
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

// Next goes on to the task after the one that has run, and returns when that task's transaction is
// open: its SQL is under way then, since start by the server's clock. begun is false if the server
// has skipped it and all after it; with an error, it may have. The verdict is on the task before.
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
