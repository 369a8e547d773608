package exec

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

// Begin sends everything for a task in one flush: the COMMIT of the previous task (tail may be
// nil), the statements that make the session ready, and the task's SQL. The tasks in then follow if
// the pipeline can take them; Behind tells how many were sent. Begin reads the answers to
// everything before the SQL. The SQL is then under way; start is its beginning by the server's
// clock.
//
// If a statement before the SQL fails, the server skips the SQL. The error is a *Lost, a
// *text.Failure (the task has not started), or ErrUnclaimed. The verdict is about the previous task
// and counts even with an error; nil means that there is none.
func (s *Session) Begin(tail *Tail, t *Task, then ...*Task) (verdict *Verdict, start time.Time, err error) {
	if t.Guarded {
		if err := s.Present(); err != nil {
			return nil, start, err
		}
	}
	s.sends(tail, t)
	defer s.wire.unlimited()
	before, refused := s.setup.state, false
	sent, err := s.sendTask(tail, t, then)
	if err == nil && tail != nil {
		verdict, refused, err = s.readTail(tail, sent.tail)
		s.sends(nil, t)
	}
	if err == nil && refused { // the server has skipped the task, so send it again
		s.setup.state = before
		s.skipped()
		sent, err = s.sendTask(nil, t, then)
	}
	if err != nil {
		return verdict, start, s.wire.unbegun(err)
	}
	start, failure, err := s.setup.read(sent.prepared)
	switch {
	case err != nil:
		return verdict, start, s.wire.unbegun(err)
	case failure == nil:
		return verdict, start, s.begun(t)
	}
	s.setup.state = before
	s.skipped()
	err = text.ServerFailure(failure, t.Input)
	if failure.Code == queryCanceled { // earlier SQL has left a time limit
		err = &Lost{Cause: err, Unbegun: true}
	}
	return verdict, start, err
}

// sendTask sends the statements of Begin and counts them.
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

// sends limits the time for the answers to everything before the task's SQL. The COMMIT of the
// previous task gets the longer limit, because users' triggers may run in it.
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

// sendInput sends the queue, the task's SQL and the question. If the task may read from us (COPY
// FROM STDIN) or has a Claim, the queue goes alone and sendAlone sends the SQL later.
func (s *Session) sendInput(t *Task, then []*Task) error {
	s.pipeline = pipeline{}
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

// begun starts the timeout of a task whose session is ready. It first sends the SQL of a task that
// is sent alone.
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
		s.sends(nil, t) // Claim may have used up the time
	}
	s.wire.query(t.Input)
	if t.Atomic && !t.Traits.Stdin {
		s.pipeline.probing = s.question.ask(t)
		s.wire.sync()
	}
	return s.wire.flush()
}

// setup makes the session ready for each task, and ends transactions. It knows what earlier SQL may
// have left in the session, and which statements of ours are prepared there.
type setup struct {
	wire  *wire
	state state
	shown shown

	masked  bool // by ALTER ROLE or ALTER DATABASE … SET role, the session runs as another role than its login
	endless bool // the role has no transaction_timeout
}

// chains tells whether a task can run in the transaction that the COMMIT AND CHAIN of the previous
// task begins, which saves two statements. The previous task must have left nothing. Our settings
// then belong to the task's transaction: a rollback undoes them, and they take a snapshot, so the
// input cannot choose the modes of its transaction.
func (s *setup) chains(t *Task) bool {
	fits := t.Atomic && !t.Traits.Modes && !t.Traits.Isolation && (!t.Save || t.constant()) && !t.alone()
	return fits && s.endless && !s.state.dirty && !s.state.needsReset(t)
}

// prepare queues the statements that make the session ready for a task: reset, settings and BEGIN.
// Nothing takes a snapshot after BEGIN, unless the transaction is chained. If the task begins after
// until, the server refuses to start it; zero means no limit.
func (s *setup) prepare(t *Task, chained bool, until time.Time) {
	s.state.constants = t.constant() && !s.state.dirty
	if !chained {
		if s.state.needsReset(t) {
			s.reset()
		}
		s.call(begin)
	}
	sql, values := s.shown.statement(t, s.shown.missing(&s.state, t), until)
	s.state.shows = t.Usual
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
	s.state.dirty = s.state.dirty || !t.constant() // the task's SQL is sent next
}

// begin starts the transaction of our settings. The fixed isolation level overrides what SQL has
// set: a SERIALIZABLE READ ONLY DEFERRABLE transaction would wait for others.
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// reset queues the statements that bring the session back to its start.
func (s *setup) reset() {
	s.call("DISCARD ALL")
	if s.masked {
		s.call("RESET ROLE") // DISCARD ALL of older servers drops the role that ALTER ROLE … SET role gives
	}
	s.state = state{}
}

// read reads the answers to the n statements of prepare. start is the server's time when it set the
// task's settings.
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

// commit queues the COMMIT of the previous task. chained: the COMMIT also begins the next
// transaction.
func (s *setup) commit(chained bool) {
	sql := "COMMIT"
	if chained {
		sql = "COMMIT AND CHAIN"
	}
	s.call(sql)
}

// rollback ends the open transaction, if there is one. The session needs a reset in any case.
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

// Our statements use the extended protocol: when one fails, the server skips everything up to the
// next Sync, even a simple query. They have no names, because SQL can drop or replace prepared
// statements. While only constants run, we give them names and prepare each once, which saves more
// than half of their cost. DISCARD ALL drops them before other SQL runs.

// call queues a statement with its parameters: texts, or times that appendMoment has written.
func (s *setup) call(sql string, args ...[]byte) { s.wire.execute(s.parse(sql), args) }

// parse queues the Parse of a statement, unless it is prepared, and returns its name on the server.
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

// knownMost limits the prepared statements: a task's timeout is part of a statement's text.
const knownMost = 32
