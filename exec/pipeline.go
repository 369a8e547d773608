package exec

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Queries that are over in no time are sent several at once: the exchange of messages costs more
// than they do. Each has a transaction, a reset and settings of its own, as if it were sent when
// the one before is over, but that it must begin in time: what a query that takes longer than
// expected has kept waiting is passed over, and starts again when its turn has come.
//
// None of them may have an effect, since its end would have to be in its transaction: a probe
// behind each makes that an error, by which the server passes over all the rest.
//
// More can be sent behind them while they are under way, so that the server need not wait for us.
// What is sent at once ends with a Sync, by which the server is ready when it hears no more of us,
// and its limits for a silent session hold. After a failure it is ready there, too, and goes on: so
// what is sent later begins with a statement that fails in a transaction that has failed.

// queued is a task whose SQL is with the server behind that of another.
type queued struct {
	task     *Task
	tail     int // statements that finish the task before,
	prepared int // that make the session ready,
	probing  int // and that ask what has become of the transaction
	reset    bool
	bound    bool
}

// ahead is what has been sent behind the SQL under way.
type ahead struct {
	behind []queued // tasks whose SQL is with the server behind that
	open   bool     // more can be sent behind them, and what asks of the last expects it
	broken error    // by what was sent behind the task under way
}

// Pipelines tells whether other tasks may be sent behind an input like this one: queries only, that
// choose nothing for their transaction and leave nothing by which those behind could be told, or
// disturbed, before we know of it.
func (t Traits) Pipelines() bool {
	return t.Reads && !t.Isolation && !t.Modes && !t.Prepared && !t.Limits && !t.Notifies && !t.Outside && !t.Stdin
}

// pipelined tells whether the session can have other tasks behind this one.
func (s *Session) pipelined(t *Task) bool {
	return t.Atomic && !t.Strict && t.Traits.Pipelines() && s.usualModes && s.clean && !s.hard && !s.wary &&
		(!t.Save || !s.cursors || s.renewed) // they may write at COMMIT
}

// Clean tells whether tasks can be sent one behind the other, as far as is known of the session
// before the first begins.
func (s *Session) Clean() bool { return s.usualModes && s.clean && !s.hard }

// Behind is how many tasks are with the server behind the one under way.
func (s *Session) Behind() int { return len(s.behind) }

// Takes tells whether more can be sent behind the tasks that are with the server.
func (s *Session) Takes() bool {
	return s.open && s.Clean() && !s.cancel.asked()
}

// goesOn fails where what was sent before has failed. Where even the transaction is gone, COMMIT
// AND CHAIN behind it does.
var goesOn = &Statement{"pgtaskd_goes_on", "SELECT"}

// Extend sends more tasks behind those that are with the server, of which one is under way. What
// becomes of the session by that Await tells.
func (s *Session) Extend(then ...*Task) {
	s.limited(true)
	defer s.limited(false)
	s.call(goesOn)
	s.sendBehind(then)
	if s.broken = s.flush(); s.broken != nil {
		s.Abandon()
	}
}

// sendBehind queues all that belongs to tasks that follow on another.
func (s *Session) sendBehind(then []*Task) {
	for i, next := range then {
		q := queued{task: next}
		s.sendTail(&Tail{}, true, next.Keep)
		q.tail = s.queued()
		q.reset = s.sendPrepare(next, true, next.Until)
		q.prepared = s.queued()
		s.front.Send(&pgproto3.Flush{})
		q.bound = s.sendPipelined(next, then[i+1:])
		s.sendEvidenceAhead(next)
		if i == len(then)-1 && next.Query { // we may never be heard of again
			s.sendProbeAlone(next)
		} else {
			s.sendProbeAhead(next)
		}
		q.probing = s.queued()
		s.behind = append(s.behind, q)
	}
	s.sync()
	s.open, s.planned = true, ""
}

// Next goes on to the task behind the one that has run, once its transaction is seen to be open:
// its SQL is under way then, since start by the server's clock. When begun is false the server has
// passed over it and all behind it, or, when there is an error too, may have. The verdict is on the
// task before.
func (s *Session) Next() (verdict *Verdict, start time.Time, begun bool, err error) {
	s.limited(true)
	defer s.limited(false)
	q := s.behind[0]
	s.behind = s.behind[1:]
	verdict, passed, err := s.readTail(&Tail{}, q.tail)
	if err != nil || passed {
		s.behind = nil
		return verdict, start, false, err
	}
	start, failure, err := s.readPrepared(q.prepared)
	switch {
	case err != nil:
		return verdict, start, false, err
	case failure != nil:
		s.behind = nil
		s.undone = s.undone || q.reset // the part of it that does not roll back is done
		if unclean(failure) && failure.Routine != lateRoutine {
			s.distrust()
		}
		return verdict, start, false, nil
	}
	s.prepared(q.task, true, q.reset)
	s.probing, s.bound = q.probing, q.bound
	s.cancel.enter(q.task.Timeout, s.crew)
	return verdict, start, true, nil
}

// lateRoutine is that of the server's error when guardTime fails.
const lateRoutine = "int84div"
