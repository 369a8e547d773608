package exec

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A reset does what DISCARD ALL does, but for the statements that are prepared: ours stay, which
// are worth more than all the rest costs. When others may be there, it is DISCARD ALL.
//
// Of those that the task's own SQL has prepared its tag tells. A function can prepare some unseen,
// but needs a procedural language for it: plpgsql shows settings once it has been loaded, and
// others are there or not. Where one is at work in the session it is not clean, and its list of
// prepared statements is looked at after each task (intact.go), and by the reset after one that has
// written, as triggers run at COMMIT.
var (
	resetAll    = &Statement{"pgtaskd_reset", "RESET ALL"}
	unlisten    = &Statement{"pgtaskd_unlisten", "UNLISTEN *"}
	discardTemp = &Statement{"pgtaskd_temp", "DISCARD TEMP"}
	sequences   = &Statement{"pgtaskd_sequences", "DISCARD SEQUENCES"}
	ownRole     = &Statement{"pgtaskd_role", "SET SESSION AUTHORIZATION DEFAULT"}
	baseRole    = &Statement{"pgtaskd_base_role", "RESET ROLE"}
	unprepared  = &Statement{"pgtaskd_unprepared", `SELECT pg_catalog.pg_advisory_unlock_all(), 1 OPERATOR(pg_catalog./) (NOT EXISTS (` +
		`SELECT FROM pg_catalog.pg_prepared_statement() AS p WHERE p.from_sql))::pg_catalog.int4`}
	unlocked = &Statement{"pgtaskd_unlocked", "SELECT pg_catalog.pg_advisory_unlock_all()"}
)

// discardAll is what a reset does first where it does not know what is prepared. Limits go first,
// as DISCARD ALL takes its time, and must be alone.
var discardAll = []*Statement{{SQL: begin.SQL}, {SQL: resetAll.SQL}, {SQL: commit.SQL}, {SQL: "DISCARD ALL"}}

// remains are what SQL has left in a session since the last reset, as far as is known, and what it
// takes to be rid of it. It knows no server.
type remains struct {
	dirty      bool        // a task has run
	cursors    bool        // there may be cursors WITH HOLD
	temporary  bool        // there may be temporary objects
	hard       bool        // what is prepared is not known, or not all ours
	unseen     bool        // SQL may have changed our statements since it was seen that they are ours
	undone     bool        // what was reset has been rolled back
	renewed    bool        // a reset is queued
	discarding bool        // with DISCARD ALL, which has not been answered
	own        [][2]string // settings that the task before had for itself
	timeoutSet bool        // statement_timeout is ours, and stays at the next task with save unless it is reset

	// What made the session ready is part of the open transaction, and so is a reset; timeoutSet
	// was this before.
	chained, chainedReset, timeoutBefore bool

	clean  bool // no procedural language has been at work; that lasts
	masked bool // ALTER ROLE or ALTER DATABASE … SET role has it run as another role than its login

	// Transactions begin as READ COMMITTED and READ WRITE: at its start, and now.
	baseUsualModes, usualModes bool
	baseEncoding, encoding     string // client_encoding

	room [9]*Statement // for what a reset takes, which each task may need
}

// distrust makes the next reset a DISCARD ALL, and those after it look closer.
func (r *remains) distrust() { r.hard, r.clean = true, false }

// needsReset tells whether a session must be made new before a task that keeps what the one before
// it has left, or does not.
func (r *remains) needsReset(keep bool) bool {
	return (r.dirty || r.hard) && (!keep || r.undone && !r.renewed)
}

// reset is what makes the session new, but for the guard; it leaves a transaction open. discarded:
// discardAll precedes it.
func (r *remains) reset(discarded bool) []*Statement {
	all := append(r.room[:0], begin)
	if !discarded && !r.clean {
		all = append(all, ownRole)
	}
	if r.masked { // RESET ALL and DISCARD ALL leave that
		all = append(all, baseRole)
	}
	switch {
	case discarded && r.clean:
		return append(all, &Statement{SQL: incapable})
	case discarded:
		return all
	}
	all = r.discardBehind(append(all, unlisten))
	switch {
	case r.clean: // the guard does it
		return all
	case r.unseen:
		return append(all, unprepared)
	}
	return append(all, unlocked)
}

// discard is the part of a reset that takes effect at once, whatever becomes of the transaction, or
// counts in it alone.
func (r *remains) discard() []*Statement { return r.discardBehind(r.room[:0]) }

func (r *remains) discardBehind(all []*Statement) []*Statement {
	all = append(all, resetAll) // limits first
	if r.cursors {
		all = append(all, closeAll)
	}
	if r.temporary {
		all = append(all, discardTemp)
	}
	return append(all, sequences)
}

// isNew takes down that a reset outside of any task has been answered.
func (r *remains) isNew() {
	r.dirty, r.cursors, r.temporary, r.timeoutSet, r.undone, r.discarding = false, false, false, false, false, false
}

// prepared takes down that the session is ready for the task, and what falls should its transaction
// be rolled back.
func (r *remains) prepared(t *Task, chained, reset bool) {
	r.chained, r.chainedReset, r.timeoutBefore = chained, chained && reset, r.timeoutSet
	r.timeoutSet = t.Timeout > 0
	r.discarding = false
	if reset {
		r.cursors, r.temporary, r.undone = false, false, false
		r.encoding = r.baseEncoding // since version 14 the server tells of it behind the SQL
	}
}

// fell takes down that what made the session ready has been rolled back with the task: a reset must
// come before whatever is next then, even if that wants the state of the task before, as that state
// is not the session's.
func (r *remains) fell() {
	if r.chained {
		r.timeoutSet = r.timeoutBefore
	}
	if r.chainedReset {
		r.undone, r.temporary = true, true
	}
	r.stood()
}

// stood takes down that nothing of it can be rolled back any more.
func (r *remains) stood() { r.chained, r.chainedReset = false, false }

// sendReset queues what makes the session new, but for the guard; it leaves a transaction open.
func (s *Session) sendReset() {
	s.usualModes = s.baseUsualModes
	discards := s.hard
	if discards {
		s.callAll(discardAll)
		s.planned, s.hard, s.discarding = "", false, true
		s.rename()
	}
	s.callAll(s.remains.reset(discards))
}

func (s *Session) callAll(statements []*Statement) {
	for _, st := range statements {
		s.call(st)
	}
}

// Reset makes the session new, which the next Begin need not do then.
func (s *Session) Reset() error {
	switch {
	case s.gone != nil:
		return s.gone
	case !s.dirty:
		return nil
	}
	s.within(s.brief)
	defer s.limited(false)
	s.wary = false
	failure, err := s.resetAlone()
	for tries := (tries{}); err == nil && failure != nil && !tries.over(failure); failure, err = s.resetAlone() {
		if err := s.rollback(); err != nil {
			return err
		}
		if tries.doubt(failure) {
			s.distrust()
		}
	}
	if err == nil && failure != nil {
		err = &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
	}
	if err == nil {
		s.isNew()
	}
	return err
}

func (s *Session) resetAlone() (failure *pgproto3.ErrorResponse, err error) {
	s.sendReset()
	if s.clean {
		s.call(&Statement{"pgtaskd_clean", "SELECT " + guardReset})
	}
	s.call(commit)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return nil, err
	}
	if _, failure, err = s.answers(n, nil, nil); err == nil && failure == nil {
		err = s.synced()
	}
	return failure, err
}
