package exec

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A reset does what DISCARD ALL does, but for the statements that are prepared: ours stay, which are worth more than all the rest costs. When
// others may be there, it is DISCARD ALL.
//
// Of those that the task's own SQL has prepared its tag tells. A function can prepare some unseen, but needs a procedural language for it:
// plpgsql shows settings once it has been loaded, and others are there or not. Where one is at work in the session it is not clean, and its list
// of prepared statements is looked at after each task (intact.go), and by the reset after one that has written, as triggers run at COMMIT.
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

// distrust makes the next reset a DISCARD ALL, and those after it look closer.
func (s *Session) distrust() { s.hard, s.clean = true, false }

// sendReset queues what makes the session new, but for the guard; it leaves a transaction open.
func (s *Session) sendReset() {
	s.usualModes = s.baseUsualModes
	if s.hard {
		s.plain(begin.SQL) // DISCARD ALL takes its time, and must be alone
		s.plain(resetAll.SQL)
		s.plain(commit.SQL)
		s.plain("DISCARD ALL")
		s.planned, s.hard, s.discarding = "", false, true
		s.rename()
		s.call(begin)
		s.sendMask()
		if s.clean {
			s.plain(incapable)
		}
		return
	}
	s.call(begin)
	if !s.clean {
		s.call(ownRole)
	}
	s.sendMask()
	s.call(unlisten)
	s.sendDiscard()
	switch {
	case s.clean: // the guard does it
	case s.unseen:
		s.call(unprepared)
	default:
		s.call(unlocked)
	}
}

// sendMask queues what gives the session the role again that it begins with, which RESET ALL and DISCARD ALL do not.
func (s *Session) sendMask() {
	if s.masked {
		s.call(baseRole)
	}
}

// sendDiscard queues the part of a reset that takes effect at once, whatever becomes of the transaction, or counts in it alone.
func (s *Session) sendDiscard() {
	s.call(resetAll) // limits first
	if s.cursors {
		s.call(closeAll)
	}
	if s.temporary {
		s.call(discardTemp)
	}
	s.call(sequences)
}

// Reset makes the session new, which the next Begin need not do then.
func (s *Session) Reset() error {
	switch {
	case s.gone != nil:
		return s.gone
	case !s.dirty:
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	s.wary = false
	failure, err := s.reset()
	for tries := (tries{}); err == nil && failure != nil && !tries.over(failure); failure, err = s.reset() {
		if err := s.rollback(); err != nil {
			return err
		}
		if !limit(failure) {
			s.distrust()
			tries.last = true
		}
	}
	if err == nil && failure != nil {
		err = &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
	}
	if err == nil {
		s.dirty, s.cursors, s.temporary, s.timeoutSet, s.undone, s.discarding = false, false, false, false, false, false
	}
	return err
}

func (s *Session) reset() (failure *pgproto3.ErrorResponse, err error) {
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
