package exec

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A reset does what DISCARD ALL does, but for the statements that are prepared: ours stay, which are worth more than all the rest costs. When
// others may be there, it is DISCARD ALL.
var (
	ownRole     = &Statement{"pgtask_role", "SET SESSION AUTHORIZATION DEFAULT"}
	resetAll    = &Statement{"pgtask_reset", "RESET ALL"}
	unlisten    = &Statement{"pgtask_unlisten", "UNLISTEN *"}
	discardTemp = &Statement{"pgtask_temp", "DISCARD TEMP"}
	sequences   = &Statement{"pgtask_sequences", "DISCARD SEQUENCES"}
)

// sendReset queues what makes the session new; it leaves a transaction open.
func (s *Session) sendReset() {
	if s.hard {
		s.plain("DISCARD ALL")
		s.known, s.hard = map[string]string{}, false
		s.call(begin)
		return
	}
	s.call(begin)
	if s.cursors {
		s.call(closeAll)
	}
	s.call(ownRole)
	s.call(resetAll)
	s.call(unlisten)
	if s.temporary {
		s.call(discardTemp)
	}
	s.call(sequences)
	s.call(s.wash)
}

// washed is what is left of a reset: advisory locks, and a division by zero when there are prepared statements that are not ours. Of those that
// the task's SQL has prepared its tag tells; a function can do it unseen, but needs a procedural language for it. The server's list costs 10 µs,
// so it is looked at only where one is at work: plpgsql has shown settings since it was loaded, and others are there or not. It has no
// parameters, since with some it would be planned each time: the plan for all of them seems dear, for the list that is not looked at.
func washed(languages bool) *Statement {
	suspect := "pg_catalog.current_setting('plpgsql.variable_conflict', true) IS NOT NULL"
	if languages {
		suspect = "true"
	}
	return &Statement{"pgtask_wash", "SELECT pg_catalog.pg_advisory_unlock_all(), CASE WHEN " + suspect +
		` THEN 1 / (NOT EXISTS (SELECT FROM pg_catalog.pg_prepared_statement() AS p WHERE p.name NOT LIKE 'pgtask\_%'))::int4 END`}
}

// sendPrepare queues what makes the session ready for a task: reset, settings, and BEGIN. Nothing takes a snapshot after that, so that
// the input may still choose its isolation level.
func (s *Session) sendPrepare(t *Task) {
	reset := s.dirty && !t.Keep
	if reset {
		s.sendReset()
	} else {
		s.call(begin)
	}
	s.sendSettings(t, reset || !s.dirty)
	s.call(commit)
	if t.Atomic {
		s.call(begin)
	}
	if reset {
		s.cursors, s.temporary = false, false
	}
	s.dirty, s.timeoutSet = true, t.Timeout > 0
}

// sendSettings queues what the session of the task shows. The statement tells the time.
func (s *Session) sendSettings(t *Task, fresh bool) {
	statement, settings := &s.ready, t.Settings
	for _, usual := range t.Usual {
		if !fresh || s.base[usual[0]] != usual[1] {
			statement, settings = &s.readyAll, append(settings[:len(settings):len(settings)], t.Usual...)
			break
		}
	}
	if statement.SQL == "" {
		statement.SQL = readySQL(settings)
	}
	values := make([][]byte, len(settings))
	for i, setting := range settings {
		values[i] = []byte(setting[1])
	}
	s.call(statement, values...)
	switch ms := (t.Timeout-1)/time.Millisecond + 1; {
	case t.Timeout > 0 && ms < 1<<31:
		s.plain("SET statement_timeout TO " + strconv.FormatInt(int64(ms), 10))
	case s.timeoutSet && !fresh:
		s.plain("RESET statement_timeout")
	}
}

// readySQL is the statement that sets these, in this order.
func readySQL(settings [][2]string) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()")
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config(%s, $%d, false)", Literal(setting[0]), i+1)
	}
	return b.String()
}

// Reset makes the session new, which the next Begin need not do then.
func (s *Session) Reset() error {
	if !s.dirty {
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	s.wary = false
	failure, err := s.reset()
	if err == nil && failure != nil {
		if err := s.rollback(); err != nil {
			return err
		}
		s.hard = true
		failure, err = s.reset()
	}
	if err == nil && failure != nil {
		err = &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
	}
	if err == nil {
		s.dirty, s.cursors, s.temporary, s.timeoutSet = false, false, false, false
	}
	return err
}

func (s *Session) reset() (failure *pgproto3.ErrorResponse, err error) {
	s.sendReset()
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
