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
//
// Of those that the task's own SQL has prepared its tag tells. A function can prepare some unseen, but needs a procedural language for it:
// plpgsql shows settings once it has been loaded, and others are there or not. Where one is at work in the session it is not clean, and its list
// of prepared statements is looked at each time, which costs 10 to 20 µs.
var (
	resetAll    = &Statement{"pgtask_reset", "RESET ALL"}
	unlisten    = &Statement{"pgtask_unlisten", "UNLISTEN *"}
	discardTemp = &Statement{"pgtask_temp", "DISCARD TEMP"}
	sequences   = &Statement{"pgtask_sequences", "DISCARD SEQUENCES"}
	ownRole     = &Statement{"pgtask_role", "SET SESSION AUTHORIZATION DEFAULT"}
	unprepared  = &Statement{"pgtask_unprepared", `SELECT pg_catalog.pg_advisory_unlock_all(), 1 OPERATOR(pg_catalog./) (NOT EXISTS (` +
		`SELECT FROM pg_catalog.pg_prepared_statement() AS p WHERE p.name OPERATOR(pg_catalog.!~~) 'pgtask\_%'))::int4`}
)

// stillClean are the expressions that end the reset of a clean session. They raise an error when it is that no more, or its role is another's.
func stillClean(user string) string {
	return `pg_catalog.pg_advisory_unlock_all(), 1 OPERATOR(pg_catalog./) (` +
		`pg_catalog.current_setting('plpgsql.variable_conflict', true) IS NULL AND session_user OPERATOR(pg_catalog.=) current_user ` +
		`AND current_user OPERATOR(pg_catalog.=) ` + Literal(user) + `::name)::int4`
}

// distrust makes the next reset a DISCARD ALL, and those after it look closer.
func (s *Session) distrust() { s.hard, s.clean = true, false }

// sendReset queues what makes the session new, but for stillClean; it leaves a transaction open.
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
	if !s.clean {
		s.call(ownRole)
	}
	s.call(resetAll)
	s.call(unlisten)
	if s.temporary {
		s.call(discardTemp)
	}
	s.call(sequences)
	if !s.clean {
		s.call(unprepared)
	}
}

// sendPrepare queues what makes the session ready for a task: reset, settings, and BEGIN. Nothing takes a snapshot after that, so that
// the input may still choose its isolation level.
func (s *Session) sendPrepare(t *Task) {
	reset := (s.dirty || s.hard) && !t.Keep
	if reset {
		s.sendReset()
	} else {
		s.call(begin)
	}
	s.sendSettings(t, reset && s.clean, reset || !s.dirty)
	s.call(commit)
	if t.Atomic {
		s.call(begin)
	}
	if reset {
		s.cursors, s.temporary = false, false
	}
	s.dirty, s.timeoutSet = true, t.Timeout > 0
}

// sendSettings queues what the session of the task shows, by a statement that tells the time, and may end a reset. What is usual need not be
// said when the session is fresh.
func (s *Session) sendSettings(t *Task, reset, fresh bool) {
	statement, settings := 0, t.Settings
	for _, usual := range t.Usual {
		if !fresh || s.base[usual[0]] != usual[1] {
			statement, settings = 1, append(settings[:len(settings):len(settings)], t.Usual...)
			break
		}
	}
	if reset {
		statement += 2
	}
	if s.ready[statement] == nil {
		s.ready[statement] = s.readyFor(settings, statement, reset)
	}
	values := make([][]byte, len(settings))
	for i, setting := range settings {
		values[i] = []byte(setting[1])
	}
	s.call(s.ready[statement], values...)
	switch ms := (t.Timeout-1)/time.Millisecond + 1; {
	case t.Timeout > 0 && ms < 1<<31:
		s.plain("SET statement_timeout TO " + strconv.FormatInt(int64(ms), 10))
	case s.timeoutSet && !fresh:
		s.plain("RESET statement_timeout")
	}
}

// readyFor is the statement that sets these, in this order. It does not return them: we do not read before the input is sent, and large
// values could fill the way back while the input fills the way there.
func (s *Session) readyFor(settings [][2]string, number int, reset bool) *Statement {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()")
	if reset {
		b.WriteString(", " + stillClean(s.user))
	}
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config(%s, $%d, false) IS NULL", Literal(setting[0]), i+1)
	}
	return &Statement{"pgtask_ready_" + strconv.Itoa(number), b.String()}
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
		s.distrust()
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
	if s.clean {
		s.call(&Statement{"pgtask_clean", "SELECT " + stillClean(s.user)})
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
