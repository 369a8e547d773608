package exec

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

// Begin sends everything for a task in one flush: the COMMIT of the task before (tail may be nil),
// what makes the session ready, and the task's SQL, with as many of then after it as Behind tells.
// It reads the answers to all that precedes the SQL, which is under way then; start is when it
// began, by the server's clock. If something before the SQL fails, the server skips the SQL. The
// error is a *Lost, a *text.Failure (the task has not started), or ErrUnclaimed. A verdict that is
// not nil counts in any case.
func (s *Session) Begin(tail *Tail, t *Task, then ...*Task) (verdict *Verdict, start time.Time, err error) {
	if t.Guarded {
		if err := s.Present(); err != nil {
			return nil, start, err
		}
	}
	s.sends(tail, t)
	defer s.wire.unlimited()
	for {
		before := s.setup.state
		sent, err := s.sendTask(tail, t, then)
		if err != nil {
			return nil, start, s.wire.unbegun(err)
		}
		if tail != nil {
			var passed bool
			if verdict, passed, err = s.readTail(tail, sent.tail); err != nil {
				return verdict, start, s.wire.unbegun(err)
			}
			s.sends(nil, t)
			if tail = nil; passed {
				s.pipeline.behind = nil
				s.setup.state.passedOver(before)
				continue
			}
		}
		start, failure, err := s.setup.read(sent.prepared)
		switch {
		case err != nil:
			return verdict, start, s.wire.unbegun(err)
		case failure == nil:
			return verdict, start, s.begun(t)
		}
		s.pipeline.behind = nil
		if s.setup.state.passedOver(before); failure.Code == queryCanceled { // by a limit that earlier SQL has left
			return verdict, start, &Lost{Cause: text.ServerFailure(failure, t.Input), Unbegun: true}
		}
		return verdict, start, text.ServerFailure(failure, t.Input)
	}
}

// sendTask queues and sends what Begin needs, and counts its statements.
func (s *Session) sendTask(tail *Tail, t *Task, then []*Task) (q queued, err error) {
	s.wire.written = false
	chained := tail != nil && s.setup.chains(t)
	if tail != nil {
		s.setup.commit(chained)
	}
	q.tail = s.wire.queued()
	s.setup.prepare(t, chained, time.Time{})
	q.prepared = s.wire.queued()
	return q, s.sendInput(t, then)
}

// sends limits the time for the answers to what precedes the task's SQL. The COMMIT of the task
// before may take as long as triggers of users do.
func (s *Session) sends(tail *Tail, t *Task) {
	s.wire.reader.Greeted()
	switch {
	case tail != nil:
		s.wire.within(s.wire.limit)
	case t.Sending > 0:
		s.wire.within(t.Sending)
	default:
		s.wire.within(s.wire.brief)
	}
}

// sendInput sends what is queued, the task's SQL and the question. A task that may read from us, or
// that is asked before it starts, is sent alone: nothing may wait after its SQL.
func (s *Session) sendInput(t *Task, then []*Task) error {
	s.pipeline = pipeline{last: t} // nothing is left of a task whose preparation has failed
	if t.alone() {
		s.wire.sync()
		return s.wire.flush()
	}
	s.wire.input(t.Input)
	switch {
	case len(then) > 0 && t.pipelined():
		s.pipeline.probing = s.question.askAhead(t)
		s.sendBehind(then)
		return s.wire.flush()
	case t.Atomic:
		s.pipeline.probing = s.question.ask(t)
	}
	s.wire.sync()
	return s.wire.flush()
}

// begun starts the time of a task whose session is ready. If it is sent alone, its SQL is sent now.
func (s *Session) begun(t *Task) error {
	if t.alone() {
		if err := s.sendAlone(t); err != nil {
			return err
		}
	}
	if err := s.wire.landed(); err != nil {
		return err
	}
	s.cancel.enter(t.Timeout)
	return nil
}

func (s *Session) sendAlone(t *Task) error {
	if err := s.wire.synced(); err != nil {
		return notBegun(err)
	}
	if t.Claim != nil {
		unclaimed, err := s.question.claims(t)
		if failure := new(text.Failure); unclaimed || errors.As(err, &failure) {
			if lost := s.Rollback(); lost != nil {
				return notBegun(lost)
			}
			return cmp.Or(err, ErrUnclaimed)
		}
		if err != nil {
			return notBegun(err)
		}
		s.sends(nil, t) // the task may have taken longer
	}
	s.wire.query(t.Input)
	if t.Atomic && !t.Traits.Stdin {
		s.pipeline.probing = s.question.ask(t)
		s.wire.sync()
	}
	return s.wire.flush()
}

// setup makes the session ready for each task, and ends transactions. It knows what SQL has left in
// the session, and which statements of ours are prepared there.
type setup struct {
	wire  *wire
	state state
	shown shown

	masked  bool // ALTER ROLE or ALTER DATABASE … SET role has the session run as another role than its login
	endless bool // the role has no transaction_timeout
}

// chains tells whether a task can run in the transaction that COMMIT AND CHAIN of the task before
// begins, which saves two statements. The task before must have left nothing. The settings then
// belong to that transaction: they go when it rolls back, and they take a snapshot, so the input
// may not choose the modes of its transaction.
func (s *setup) chains(t *Task) bool {
	fits := t.Atomic && !t.Traits.Modes && !t.Traits.Isolation && (!t.Save || t.constant()) && !t.alone()
	return fits && s.endless && !s.state.dirty && !s.state.needsReset(t)
}

// prepare queues what makes the session ready for a task: reset, settings and BEGIN. Nothing takes
// a snapshot after BEGIN, unless the transaction is chained. The task must begin before until,
// unless until is zero.
func (s *setup) prepare(t *Task, chained bool, until time.Time) {
	s.state.constants = t.constant() && !s.state.dirty
	if !chained {
		if s.state.needsReset(t) {
			s.reset()
		}
		s.call(begin)
	}
	sql, values := s.shown.statement(&s.state, t, until)
	s.call(sql, values...)
	if sql := s.state.timeout(t); sql != "" {
		s.call(sql)
	}
	if settings := s.state.apart(t); settings != nil {
		s.call(settingApart, settings)
	}
	if !chained {
		s.call("COMMIT")
		if t.Atomic {
			s.call("BEGIN")
		}
	}
}

// begin is the transaction of our settings. Its level is fixed, whatever SQL has set: DEFERRABLE
// would wait for others.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// reset queues what makes the session new.
func (s *setup) reset() {
	s.call("DISCARD ALL")
	if s.masked {
		s.call("RESET ROLE") // to what ALTER ROLE … SET role says: DISCARD ALL of older servers leaves none
	}
	s.state = state{}
}

// read reads the answers to the n statements of prepare. start is the server's time at the last of
// them.
func (s *setup) read(n int) (start time.Time, failure *pgproto3.ErrorResponse, err error) {
	var bad error
	failure, err = s.wire.answers(n, func(values [][]byte) {
		if len(values) > 0 && len(values[0]) > 0 {
			start, bad = moment(values[0])
		}
	}, nil)
	switch {
	case err != nil:
		return start, failure, err
	case failure != nil:
		return start, failure, s.rollback()
	case bad != nil:
		return start, nil, &Lost{Cause: bad, Broken: true}
	case start.IsZero():
		return start, nil, &Lost{Cause: errMoment, Broken: true}
	}
	return start, nil, nil
}

// commit queues the COMMIT of the task before. chained: its transaction is followed by the next at
// once.
func (s *setup) commit(chained bool) {
	sql := "COMMIT"
	if chained {
		sql = "COMMIT AND CHAIN"
	}
	s.call(sql)
}

// rollback ends a transaction in which something has failed, unless that has ended it.
func (s *setup) rollback() error {
	s.state.dirty = true
	if s.wire.status == 'I' {
		return nil
	}
	if _, err := s.wire.ask("ROLLBACK"); err != nil {
		return err
	}
	if s.wire.status != 'I' {
		return &Lost{Cause: errors.New("the transaction could not be rolled back")}
	}
	return nil
}

// Statements of ours use the extended protocol: when one fails, the server skips everything after
// it, a simple query too, up to the next Sync. They have no name, since SQL can drop prepared
// statements or replace them by its own. While nothing but constants runs they are prepared, which
// saves more than half of their cost; DISCARD ALL drops them before anything else runs.

// call queues a statement with its parameters: texts, or a time as appendMoment writes it.
func (s *setup) call(sql string, args ...[]byte) { s.wire.execute(s.parse(sql), args) }

// parse queues what makes a statement known to the server, and returns its name there.
func (s *setup) parse(sql string) string {
	name, known := s.state.known[sql]
	switch {
	case known:
		return name
	case s.state.constants && len(s.state.known) < knownMost:
		if s.state.known == nil {
			s.state.known = map[string]string{}
		}
		name = "pgtaskd_" + strconv.Itoa(len(s.state.known))
		s.state.known[sql] = name
	}
	s.wire.front.SendParse(&pgproto3.Parse{Name: name, Query: sql})
	return name
}

// knownMost limits their number: the text of some contains a task's limit.
const knownMost = 32
