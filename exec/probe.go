package exec

import (
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What has become of the transaction: whether it has written, the time, and, where the session's
// state is kept, whether transactions still begin in the usual modes. A cursor WITH HOLD may write
// at COMMIT: hence CLOSE ALL before it. Where cursors are to be kept, a tag tells of those that the
// SQL itself has declared, and a look at all of them (which takes 8 µs) of those that a function may
// have.
var (
	probe        = &Statement{"pgtaskd_probe", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), true`}
	probeSave    = &Statement{"pgtaskd_probe_save", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), ` + usualModes}
	probeCursors = &Statement{"pgtaskd_probe_cursors", `SELECT coalesce(pg_catalog.txid_current_if_assigned(), ` +
		`(SELECT 1 FROM pg_catalog.pg_cursors AS c WHERE c.is_holdable LIMIT 1)), pg_catalog.clock_timestamp(), ` + usualModes}
)

const usualModes = `pg_catalog.current_setting('default_transaction_isolation') OPERATOR(pg_catalog.=) 'read committed' ` +
	`AND pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'off'`

// Where other tasks are behind it, an effect is an error: what ends the transaction is with the
// server already, and the task's end is not part of it.
var (
	probeAhead = &Statement{"pgtaskd_probe_ahead", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` +
		`1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}
	probeSaveAhead = &Statement{"pgtaskd_probe_save_ahead", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` +
		`1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL AND ` + usualModes + `)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}

	// Behind the last query of a remote, which must not write, or is watched.
	probeQuery = &Statement{"pgtaskd_probe_query", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` + silence +
		` AND 1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}
	probeWatched = &Statement{"pgtaskd_probe_watched", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), ` + silence}
)

// silence bounds the time for which a remote's transaction, and the locks in it, stay if we are
// never heard of again, as when the network is gone or we are frozen: for that transaction alone.
// It is true. $1: the limit, which is the session's own if it has one.
const silence = `pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true) IS NOT NULL`

const silenceMost = "1min"

// underWay is what is asked behind the SQL that runs, or has run in the transaction that is open.
type underWay struct {
	asks    evidence // whether our statements are still ours
	listed  int      // how many of ours the list is to show
	odd     bool     // what was asked before the SQL has not been answered by one of ours
	probing int      // statements, of all that is asked
	bound   bool     // the SQL was sent as one that is planned
	judged  bool     // whether the plan may be kept
	ours    bool     // its transaction has been made ours behind it
	partly  bool     // but for what it has hardly changed
}

// sendProbe queues what asks what has become of a task's transaction, for one that nothing is sent
// behind. Nothing before the evidence has a name.
func (s *Session) sendProbe(t *Task) {
	if t.Traits.Limits || t.Wary {
		s.sendPatient()
	}
	s.sendEvidence(t)
	if s.judged {
		s.call(unruled)
	}
	s.sendProbeAlone(t)
}

func (s *Session) sendProbeAlone(t *Task) {
	if !t.Save {
		s.sendClose(t)
	}
	switch {
	case t.Ours && isASCII(s.path) && s.bound:
		s.sendOwn(partly)
	case t.Ours && isASCII(s.path):
		s.sendOwn(own)
	case t.Query:
		s.call(probeQuery, []byte(s.silence))
	case t.Watched:
		s.call(probeWatched, []byte(s.silence))
	case !t.Save:
		s.call(probe)
	case s.clean && !s.wary: // else a function may have declared some
		s.call(probeSave)
	default:
		s.call(probeCursors)
	}
}

// sendProbeAhead queues what asks what has become of a task that others are sent behind.
func (s *Session) sendProbeAhead(t *Task) {
	if t.Save {
		s.call(probeSaveAhead)
		return
	}
	s.sendClose(t)
	s.call(probeAhead)
}

// sendClose queues what closes the cursors of a task, if it can have any: what they read, and
// write, at COMMIT, they do now.
func (s *Session) sendClose(t *Task) {
	if !t.Traits.Inert {
		s.call(closeAll)
	}
}

// said is what the server says behind a task's SQL.
type said struct {
	asks    evidence // what it is asked first
	heard   bool     // and has answered
	rows    int      // of the probe
	another bool     // our statements are another's, or may be
	odd     bool     // the probe certainly is
}

// hear reads a row of it.
func (s *Session) hear(said *said, values [][]byte, result *Result) {
	if said.asks != noEvidence && !said.heard {
		said.heard, said.another = true, s.evident(said.asks, values)
		return
	}
	said.rows++
	if len(values) != 3 && len(values) != 4 {
		said.odd = true
		return
	}
	result.Wrote = values[0] != nil
	if len(values) == 4 && len(values[3]) == 4 {
		result.untouched = binary.BigEndian.Uint32(values[3]) == 0
	}
	var usual bool
	var bad [2]error
	result.Stop, bad[0] = moment(values[1])
	usual, bad[1] = boolean(values[2])
	said.odd = said.odd || errors.Join(bad[:]...) != nil
	s.usualModes = s.usualModes && usual
}

// readProbe reads what the server says to sendProbe, which it sends if Begin has not, and to the
// Sync behind the input. It tells whether the probe was answered.
func (s *Session) readProbe(t *Task, result *Result) (answered bool, err error) {
	if t.Atomic && t.Traits.Stdin {
		s.sendProbe(t)
		s.probing = s.queued()
		s.sync()
		if err := s.flush(); err != nil {
			return false, err
		}
	}
	if !s.local { // what is ours to wait for has a limit, though SQL may have none
		s.limited(true)
		defer s.limited(false)
	}
	n := s.probing
	s.probing = 0
	if n == 0 && t.Traits.Stdin {
		return false, nil
	}
	said, ahead := said{asks: s.asks}, s.open
	s.asks = noEvidence
	_, failure, err := s.answers(n, func(values [][]byte) { s.hear(&said, values, result) }, nil)
	said.odd = said.odd || s.odd || n > 0 && said.rows != 1
	switch {
	case err == nil && failure == nil && len(s.behind) == 0:
		return s.believe(t, n, said, result)
	case err == nil && failure == nil && said.odd:
		return false, &Lost{Cause: errors.New("a prepared statement of pgtaskd has been replaced")}
	case err == nil && failure == nil:
		return true, nil
	case failure != nil && result.Raw == nil:
		s.blame(t, failure, ahead, result)
	}
	return false, err
}

// believe decides whether a probe that has answered n statements is one of ours. If not, the task
// is rolled back and runs once more.
func (s *Session) believe(t *Task, n int, said said, result *Result) (answered bool, err error) {
	if err := s.synced(); err != nil {
		return false, err
	}
	loaded := said.asks == asksLoaded && said.another
	another, err := s.replaced(said)
	if another {
		result.Raw, result.Forgot = errReplaced, true
	}
	result.Wrote = result.Wrote || loaded && t.Save // by a cursor that a function has declared, at COMMIT
	return n > 0 && !another, err
}

// blame decides what a failure of ours means: a cancel that came too late for the input has hit the
// probe, a limit of the input's has, or one of its statements is gone.
func (s *Session) blame(t *Task, failure *pgproto3.ErrorResponse, ahead bool, result *Result) {
	result.Raw = failure
	result.Alone = (ahead || t.Query) && failure.Code == "22012" && failure.Routine == "int4div" ||
		ahead && s.faultAhead(failure)
	limited := limit(failure)
	result.Alone = result.Alone || ahead && limited
	judged := s.judged && !limited
	s.apart = s.apart || judged
	result.Forgot = s.forgotten(failure) || judged || limited
}
