package exec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
)

// Task is what a session has to know of a task in order to run it.
type Task struct {
	Input    string
	Traits   traits.Traits
	Atomic   bool        // in a transaction of ours
	Keep     bool        // it runs in the state that the task before has left in the session
	Save     bool        // the state that it leaves is kept for the next task
	Settings [][2]string // names and values, set for each task; the names are the same for all tasks of a session
	Usual    Usual       // likewise, set only where the session does not show them by now
	Own      [][2]string // settings of the task's own, which no other may have
	Timeout  time.Duration
	Format   text.Format
	Limit    int64         // of the output, in bytes
	Strict   bool          // output beyond the limit is an error
	Until    time.Time     // it may not begin later, by the server's clock; set for a task after another
	Query    bool          // on a remote: it must not write; if it has, it is rolled back, and runs once more otherwise
	Forced   bool          // its transaction gets an id in any case: some effects need none, such as a NOTIFY
	Sending  time.Duration // the time to send it; 0: the time to make the session ready
	Guarded  bool          // it must not run twice: nothing is sent to a session that is gone

	// Claim is asked before the SQL goes to the server, with the id of its transaction; when it
	// says no, nothing is sent, and Begin returns ErrUnclaimed. nil: there is nothing to ask.
	Claim func(xact int64) bool
}

// constant tells whether a task runs nothing but constants, which leave nothing, and find nothing.
func (t *Task) constant() bool { return t.Traits.Inert && len(t.Own) == 0 }

// alone tells whether the SQL of a task is sent when all before it has been answered.
func (t *Task) alone() bool { return t.Traits.Stdin || t.Claim != nil }

// pipelined tells whether a session can have other tasks after this one.
func (t *Task) pipelined() bool {
	return t.Atomic && !t.Strict && (t.constant() || !t.Save && len(t.Own) == 0) && t.Traits.Pipelines()
}

// Usual are settings that a session may share with its tasks: those of a lane, and those that most
// tasks have alike.
type Usual [2][][2]string

// Result is what came of a run.
type Result struct {
	Output   *string
	Notice   *string
	Failure  *text.Failure           // nil: the SQL ran well
	Raw      *pgproto3.ErrorResponse // the server's error that Failure shows, if it is the server's
	Reason   Reason                  // why it was cancelled, if it was
	Stop     time.Time               // when it ended, by the server's clock; zero: when this is read
	Open     bool                    // our transaction is open
	Xact     int64                   // the id of that; 0: it has none, so that nothing in it can be lost
	Alone    bool                    // rolled back, as it may have written where it must not: it runs again, alone and not as a Query
	ReadOnly bool                    // it failed because the server takes no writes, and not by the SQL itself
}

// Wrote tells whether the transaction may have an effect.
func (r *Result) Wrote() bool { return r.Xact != 0 }

// Retry tells whether the SQL failed only because it ran inside a transaction. The routine tells
// the server's own error from one that was raised by SQL with the same code.
func (r *Result) Retry() bool {
	if r.Raw == nil {
		return false
	}
	switch r.Raw.Code {
	case "25001":
		return r.Raw.Routine == "PreventInTransactionBlock"
	case "2D000":
		routine := strings.TrimPrefix(r.Raw.Routine, "_")
		return strings.HasPrefix(routine, "SPI_commit") || strings.HasPrefix(routine, "SPI_rollback")
	}
	return false
}

// Tail is what is left to do for a task whose SQL has run in our transaction: COMMIT.
type Tail struct {
	Input string // of that task, for its errors
}

// Verdict is what the server said to COMMIT.
type Verdict struct {
	Committed bool
	Failure   *text.Failure // why not: a deferred constraint or trigger, a conflict
}

// state is what SQL has left in a session, as far as the next task needs to know it. DISCARD ALL
// follows on whatever may have left something.
type state struct {
	dirty      bool        // SQL has run that may have left something
	timeoutSet bool        // statement_timeout is ours
	own        [][2]string // settings that the task before had for itself, where the next keeps its state
	shows      Usual       // what the session shows by now, beside what it has from its start

	constants bool              // nothing but constants has run or is about to
	known     map[string]string // names of the statements that are prepared meanwhile
}

// left notes that the SQL of a task runs. Constants change nothing in a session. A rollback makes
// the session dirty in any case.
func (st *state) left(t *Task) { st.dirty = st.dirty || !t.Traits.Inert || len(t.Own) > 0 }

// passedOver goes back to an earlier state: all that was sent since has failed, and was rolled back
// or skipped.
func (st *state) passedOver(before state) {
	*st = before
	st.dirty = true
}

// needsReset tells whether DISCARD ALL precedes a task. A task that keeps the state of the one
// before needs none: nothing of ours is prepared in a session whose state is kept.
func (st *state) needsReset(t *Task) bool {
	return st.dirty && !t.Keep || len(st.known) > 0 && !t.constant()
}

// timeout is the statement that sets a task's limit, or resets that of the task before; "" if there
// is neither.
func (st *state) timeout(t *Task) string {
	ms := (t.Timeout-1)/time.Millisecond + 1
	sets := t.Timeout > 0 && ms < 1<<31
	resets := st.timeoutSet && !sets
	switch st.timeoutSet = sets; {
	case sets:
		return "SET statement_timeout TO " + strconv.FormatInt(int64(ms), 10)
	case resets:
		return "RESET statement_timeout"
	}
	return ""
}

// apart is the parameter of settingApart: the settings that the task alone has, and null for those
// that the task before had, if its state is kept. nil: there are none. They are one statement,
// because the server may say much about each setting.
func (st *state) apart(t *Task) []byte {
	var settings [][2]*string // as JSON, which no setting reads otherwise
	for i := range st.own {
		settings = append(settings, [2]*string{&st.own[i][0], nil})
	}
	for i := range t.Own {
		settings = append(settings, [2]*string{&t.Own[i][0], &t.Own[i][1]})
	}
	if st.own = t.Own; settings == nil {
		return nil
	}
	list, _ := json.Marshal(settings) // strings are never an error
	return list
}

// settingApart sets these, in this order; null resets a setting. It returns no row: that would be
// taken for the time.
const settingApart = `SELECT FROM pg_catalog.json_array_elements($1::pg_catalog.json) AS s (pair)
	WHERE pg_catalog.set_config(pg_catalog.json_extract_path_text(s.pair, '0'), pg_catalog.json_extract_path_text(s.pair, '1'), false) IS NULL`

// shown makes the statement by which the session of a task shows the task's settings.
type shown struct {
	base  map[string]string // settings to which a reset returns
	ready [8]string         // sets what a task shows: +1, +2 the usual as well; +4 within a time
}

// statement sets what the task's session shows and it does not show yet, and asks for the time. It
// fails if the task begins after until, unless that is zero.
func (s *shown) statement(st *state, t *Task, until time.Time) (sql string, values [][]byte) {
	number := 0
	settings := [1 + len(t.Usual)][][2]string{t.Settings}
	for i, usual := range t.Usual {
		if t.Keep && st.dirty || !s.has(st.shows[i], usual) { // SQL whose state is kept may have changed them
			number |= 1 << i
			settings[1+i] = usual
		}
		st.shows[i] = usual
	}
	for _, some := range settings {
		for _, setting := range some {
			values = append(values, []byte(setting[1]))
		}
	}
	timed := !until.IsZero()
	if timed {
		number |= 4
		values = append(values, appendMoment(nil, until))
	}
	if s.ready[number] == "" {
		s.ready[number] = readyFor(slices.Concat(settings[:]...), timed)
	}
	return s.ready[number], values
}

// has tells whether the session shows these settings. before is what was set last; nil: nothing but
// what the session has from its start.
func (s *shown) has(before, usual [][2]string) bool {
	if before != nil {
		return slices.Equal(before, usual)
	}
	return !slices.ContainsFunc(usual, func(setting [2]string) bool {
		value, known := s.base[setting[0]]
		return !known || value != setting[1]
	})
}

// readyFor is the statement that sets these settings, in this order. It does not return them: we do
// not read before the input is sent, so large values could block both ways.
func readyFor(settings [][2]string, timed bool) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()")
	if timed {
		fmt.Fprintf(&b, inTime, len(settings)+1)
	}
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config('%s', $%d, false) IS NULL", setting[0], i+1)
	}
	return b.String()
}

// inTime fails if the task begins too late; the task starts again when its turn has come. The
// search path is the role's own here, after a reset or constants.
const inTime = `, (CASE WHEN pg_catalog.timestamptz_le(pg_catalog.statement_timestamp(), $%d::pg_catalog.timestamptz) THEN '0' ELSE 'pgtaskd: too late' END)::pg_catalog.int4`
