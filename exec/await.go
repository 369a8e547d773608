package exec

import (
	"encoding/binary"
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What has become of the transaction: whether it has written, the time, whether a procedural language has been loaded, and, where the session's state
// is kept, whether transactions still begin in the usual modes. A cursor WITH
// HOLD may write at COMMIT: hence CLOSE ALL before it. Where cursors are to be kept, a tag tells of those that the SQL itself has declared, and
// a look at all of them (dear: 8 µs) of those that a function may have.
var (
	probe     = &Statement{"pgtaskd_probe", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), false, true`}
	probeSave = &Statement{"pgtaskd_probe_save", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), ` +
		`pg_catalog.current_setting('plpgsql.variable_conflict', true) IS NOT NULL, ` + usualModes}
	probeCursors = &Statement{"pgtaskd_probe_cursors", `SELECT coalesce(pg_catalog.txid_current_if_assigned(), ` +
		`(SELECT 1 FROM pg_catalog.pg_cursors AS c WHERE c.is_holdable LIMIT 1)), pg_catalog.clock_timestamp(), false, ` + usualModes}
)

const usualModes = `pg_catalog.current_setting('default_transaction_isolation') OPERATOR(pg_catalog.=) 'read committed' ` +
	`AND pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'off'`

// Where other tasks are behind it, an effect is an error: what ends the transaction is with the server already, and the task's end is not part of it.
var (
	probeAhead = &Statement{"pgtaskd_probe_ahead", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), false, ` +
		`1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}
	probeSaveAhead = &Statement{"pgtaskd_probe_save_ahead", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), false, ` +
		`1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL ` +
		`AND pg_catalog.current_setting('plpgsql.variable_conflict', true) IS NULL AND ` + usualModes + `)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}

	// Behind the last query of a remote, which must not write, or is watched.
	probeQuery = &Statement{"pgtaskd_probe_query", `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` + silence +
		`, 1 OPERATOR(pg_catalog./) (pg_catalog.txid_current_if_assigned() IS NULL)::pg_catalog.int4 OPERATOR(pg_catalog.=) 1`}
	probeWatched = &Statement{"pgtaskd_probe_watched", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), ` + silence + `, true`}
)

// silence bounds the time for which a remote's transaction, and the locks in it, stay if we are never heard of again, as when the network has gone or we are
// frozen: for that transaction alone, and where the session has no limit of its own. It is false. $1: the limit.
const silence = `CASE WHEN pg_catalog.current_setting('idle_in_transaction_session_timeout') OPERATOR(pg_catalog.=) '0' ` +
	`THEN pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true) IS NULL ELSE false END`

// sendProbe queues what asks what has become of a task's transaction, for one that nothing is sent behind.
func (s *Session) sendProbe(t *Task) {
	if t.Traits.Limits {
		s.call(patient)
	}
	s.sendEvidence(t)
	s.sendProbeAlone(t)
}

func (s *Session) sendProbeAlone(t *Task) {
	switch {
	case t.Ours && isASCII(s.path):
		s.call(closeAll)
		st := own
		if s.bound {
			st = partly
		}
		s.sendOwn(st)
	case t.Query:
		s.call(closeAll)
		s.call(probeQuery, []byte(s.silence))
	case t.Watched:
		s.call(closeAll)
		s.call(probeWatched, []byte(s.silence))
	case !t.Save:
		s.call(closeAll)
		s.call(probe)
	case s.clean:
		s.call(probeSave)
	default:
		s.call(probeCursors)
	}
}

// Await reads what comes of the input that Begin has sent. After it no cancel of ours is on its way. The error is a *Lost; the
// result holds what had come before that.
func (s *Session) Await(t *Task) (*Result, error) {
	output, notices := NewOutput(t.Format, t.Limit), &Notices{}
	output.Encoding(s.encoding)
	tags := tags{traits: t.Traits}
	s.reader.output = output
	failure, err := s.answer(sink{
		rows: output.Rows, row: output.Row, complete: func(tag []byte) {
			tags.see(tag)
			output.Complete(tag)
		},
		copyOut: output.CopyOut, copied: output.Copy, notice: t.noticed(notices), encoding: output.Encoding, bound: s.bound,
	})
	s.reader.output = nil
	result := &Result{Raw: failure}
	if s.bound && err == nil { // behind it the server does not tell the status of the transaction
		s.failing, s.status = failure, 'T'
		result.Forgot = failure != nil && s.unplanned(failure)
	}
	answered := false
	if err == nil {
		answered, err = s.readProbe(t, result)
	}
	if !answered {
		s.behind = nil
	}
	result.Reason = s.settle()
	unseen := s.unseen && !tags.prepared
	s.left(t, result, &tags, answered)
	result.Barred = failure != nil && failure.Code == "25006" && s.readOnly && !t.Save && !t.Traits.Modes
	result.keep(output, notices)
	result.judge(t, output)
	switch {
	case err != nil && s.broken != nil:
		return result, s.broken
	case err != nil:
		return result, err
	case len(s.behind) > 0 && (tags.ended() || s.status != 'T'):
		return result, &Lost{Cause: errors.New("a query has ended its transaction")}
	case result.Failure == nil && answered && !tags.ended() && s.status == 'T':
		result.Open = true
		return result, nil
	}
	if err := s.closeTransaction(t, result); err != nil || !unseen {
		return result, err
	}
	return result, s.review(t, result)
}

// left takes down what the task may have left in the session.
func (s *Session) left(t *Task, result *Result, tags *tags, answered bool) {
	s.hard = s.hard || tags.prepared || t.Wary
	s.unseen = !answered || result.Wrote || !t.Atomic || s.wary
	s.limits = t.Traits.Limits
	s.cursors = s.cursors || !answered || tags.declared || t.Save && !s.clean
	result.Wrote = result.Wrote || t.Save && s.cursors && s.clean || t.Traits.Notifies
	s.temporary = s.temporary || !answered || result.Wrote && !(result.untouched && s.clean) // what is deferred to COMMIT makes some only in a procedural language
}

// noticed keeps the notices of a run, without the server's warning that a BEGIN of the input found ours.
func (t *Task) noticed(notices *Notices) func(*pgproto3.NoticeResponse) {
	return func(n *pgproto3.NoticeResponse) {
		if !t.Atomic || n.Code != "25001" || n.Routine != "BeginTransactionBlock" {
			notices.Add(n)
		}
	}
}

// readProbe reads what the server says to sendProbe, which it sends if Begin has not, and to the Sync behind the input. It tells whether the
// probe was answered.
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
	odd, ahead, rows, asks, asked, another := false, s.open, 0, s.asks, false, false
	s.asks = noEvidence
	_, failure, err := s.answers(n, func(values [][]byte) {
		if asks != noEvidence && !asked {
			asked, another = true, s.evident(asks, values)
			return
		}
		rows++
		if len(values) != 4 && len(values) != 5 { // another statement has taken its name
			odd = true
			return
		}
		result.Wrote = values[0] != nil
		if len(values) == 5 && len(values[4]) == 4 {
			result.untouched = binary.BigEndian.Uint32(values[4]) == 0
		}
		var usual, loaded bool
		var bad [3]error
		result.Stop, bad[0] = moment(values[1])
		loaded, bad[1] = boolean(values[2])
		usual, bad[2] = boolean(values[3])
		odd = odd || errors.Join(bad[:]...) != nil
		s.usualModes = s.usualModes && usual
		if loaded {
			result.Wrote, s.clean = true, false
		}
	}, nil)
	odd = odd || n > 0 && rows != 1
	if err == nil && failure == nil {
		s.hard = s.hard || odd
		switch {
		case len(s.behind) > 0 && odd:
			return false, &Lost{Cause: errors.New("a prepared statement of pgtaskd has been replaced")}
		case len(s.behind) > 0:
			return true, nil
		}
		if err := s.synced(); err != nil {
			return false, err
		}
		if another, err = s.replaced(asks, another); another {
			result.Raw, result.Forgot = errReplaced, true
		}
		return n > 0 && !odd && !another, err
	}
	// A cancel that came too late for the input and hit the probe, a limit of the input's that did, or one of its statements is gone.
	if failure != nil && result.Raw == nil {
		result.Raw = failure
		result.Alone = (ahead || t.Query) && failure.Code == "22012" && failure.Routine == "int4div" || ahead && s.faultAhead(failure)
		judged := s.judged && failure.Code != "57014"
		s.apart = s.apart || judged
		result.Forgot = s.forgotten(failure) || judged || t.Traits.Limits && failure.Code == "57014" && t.Atomic
	}
	return false, err
}

// closeTransaction ends a transaction that is open and not to be finished by a tail: one that has failed, or that the input has left.
func (s *Session) closeTransaction(t *Task, result *Result) error {
	if s.status == 'I' {
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	if s.status == 'T' && result.Failure == nil {
		s.query("COMMIT")
		if err := s.flush(); err != nil {
			return err
		}
		failure, err := s.answer(sink{})
		if err != nil {
			return err
		}
		if failure != nil {
			result.Raw, result.Failure = failure, serverFailure(failure, t.Input)
		} else {
			s.stood()
		}
	}
	return s.rollback()
}

func (r *Result) keep(output *Output, notices *Notices) {
	if text, ok := output.Text(); ok {
		r.Output = &text
	}
	if text, ok := notices.Text(); ok {
		r.Notice = &text
	}
}

// judge says whether the run failed, by the server's word or by ours.
func (r *Result) judge(t *Task, output *Output) {
	switch {
	case r.Raw != nil && r.Reason == TimedOut && (r.Raw.Code == "57014" || r.Forgot):
		timeout := *r.Raw
		timeout.Code = "57014"
		timeout.Message = "canceling statement due to statement timeout"
		r.Failure = serverFailure(&timeout, t.Input)
	case r.Raw != nil:
		r.Failure = serverFailure(r.Raw, t.Input)
	case output.Binary():
		r.Failure = NewFailure("COPY TO STDOUT in binary format is not supported", "0A000", "STATEMENT", t.Input)
	case t.Strict && output.Over():
		r.Failure = NewFailure("output exceeds the limit", "54000", "STATEMENT", t.Input)
	}
}

func serverFailure(e *pgproto3.ErrorResponse, statement string) *Failure {
	if e == nil {
		return nil
	}
	return &Failure{Text: ErrorText(e, statement), SQLState: sqlstate(e.Code), routine: e.Routine, where: e.Where}
}
