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

// Task has the properties of a task that its session needs.
type Task struct {
	Input    string
	Traits   traits.Traits
	Atomic   bool        // it runs in a transaction of ours
	Keep     bool        // it runs with the session state that the previous task has left
	Save     bool        // the next task gets the session state that it leaves
	Settings [][2]string // names and values, set for each task; all tasks of a session have the same names
	Usual    Usual       // likewise, but set only if the session has other values
	Own      [][2]string // settings of this task alone; other tasks must not get them
	Timeout  time.Duration
	Format   text.Format
	Limit    int64         // maximum of the output, in bytes
	Strict   bool          // output beyond the limit is an error
	Until    time.Time     // it may not begin later, by the server's clock; for tasks of a pipeline
	Exact    bool          // on a remote: the server must be able to tell later whether it has committed
	Query    bool          // on a remote: it must not write; if it does, it is rolled back and runs again without Query
	Forced   bool          // its transaction always gets an id: a NOTIFY, for example, gives none
	Sending  time.Duration // time limit for sending it; 0: the limit for making a session ready
	Guarded  bool          // it must not run twice: Begin first checks that the session is still there

	// Claim gets the transaction id before the SQL goes to the server. If it returns false, the SQL
	// is not sent and Begin returns ErrUnclaimed. It may be nil.
	Claim func(xact int64) bool
}

// constant tells whether a task runs only constants. They neither read nor change session state.
func (t *Task) constant() bool { return t.Traits.Inert && len(t.Own) == 0 }

// GetsID tells whether the question gives the transaction an id, even if it has written nothing.
func (t *Task) GetsID() bool { return (t.Forced || t.Save) && !t.Query && !t.Traits.Inert }

// alone tells whether the SQL is sent only after all earlier statements were answered.
func (t *Task) alone() bool { return t.Traits.Stdin || t.Claim != nil }

// pipelined tells whether other tasks can be sent after this one.
func (t *Task) pipelined() bool {
	return t.Atomic && !t.Strict && (t.constant() || !t.Save && len(t.Own) == 0) && t.Traits.Pipelines()
}

// Usual are settings that often stay the same from one task of a session to the next: the settings
// of a lane, and those with the same value in most tasks.
type Usual [2][][2]string

// Result is the result of a run.
type Result struct {
	Output   *string
	Notice   *string
	Failure  *text.Failure           // nil: the SQL succeeded
	Raw      *pgproto3.ErrorResponse // the server's error that Failure shows; nil if the error is ours
	Reason   Reason                  // why the run was cancelled, if it was
	Stop     time.Time               // end of the run, by the server's clock; zero: not known, it has just ended
	Open     bool                    // our transaction is still open
	Xact     int64                   // id of the transaction; 0: it has none and nothing to lose
	Alone    bool                    // rolled back: it perhaps wrote and must not; it runs again alone, without Query
	ReadOnly bool                    // it failed because the server takes no writes, not because of its SQL
}

// Wrote tells whether the transaction may have written something.
func (r *Result) Wrote() bool { return r.Xact != 0 }

// Retry tells whether the SQL failed only because it ran inside a transaction. SQL can raise the
// same codes, but not with the routine of the server's own error.
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

// Tail is the COMMIT of a task whose SQL has run in our transaction.
type Tail struct {
	Input string // the SQL of that task, for the text of errors
}

// Verdict is the server's answer to COMMIT.
type Verdict struct {
	Committed bool
	Failure   *text.Failure // why it did not commit: a deferred constraint or trigger, a conflict
}

// state records what SQL may have left in a session, as far as the next task depends on it. If SQL
// may have left something, DISCARD ALL comes before the next task.
type state struct {
	dirty      bool        // SQL that may have left something was sent
	timeoutSet bool        // the session has a statement_timeout of ours
	own        [][2]string // own settings of the previous task, which a task that keeps its state must reset
	shows      Usual       // usual settings that were set since the session's start

	constants bool              // only constants have run or are about to run
	known     map[string]string // names of the statements prepared meanwhile, by text
}

// needsReset tells whether a task needs DISCARD ALL first. A task that keeps the previous task's
// state needs none. While statements of ours are prepared, there is no state to keep: a failure,
// after which the server may lack some of them, or SQL other than constants needs a reset.
func (st *state) needsReset(t *Task) bool {
	if len(st.known) > 0 {
		return st.dirty || !t.constant()
	}
	return st.dirty && !t.Keep
}

// timeout returns the statement that sets a task's time limit, or resets the limit of the previous
// task; "" if neither is needed.
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

// apart returns the parameter of settingApart: the task's own settings, and null for those of the
// previous task, if its state is kept; nil if there are none. One statement sets all of them,
// because the server may send long messages for each setting.
func (st *state) apart(t *Task) []byte {
	var settings [][2]*string // JSON reads the same under any settings of the session
	for i := range st.own {
		settings = append(settings, [2]*string{&st.own[i][0], nil})
	}
	for i := range t.Own {
		settings = append(settings, [2]*string{&t.Own[i][0], &t.Own[i][1]})
	}
	if st.own = t.Own; settings == nil {
		return nil
	}
	list, _ := json.Marshal(settings) // strings never fail
	return list
}

// settingApart sets the task's own settings in order; null resets a setting. It returns no row,
// because setup.read takes each row for the time.
const settingApart = `SELECT FROM pg_catalog.json_array_elements($1::pg_catalog.json) AS s (pair)
	WHERE pg_catalog.set_config(pg_catalog.json_extract_path_text(s.pair, '0'), pg_catalog.json_extract_path_text(s.pair, '1'), false) IS NULL`

// shown makes the statement that sets a task's settings in its session.
type shown struct {
	base  map[string]string // settings that a reset restores
	texts map[parts]string  // texts of the statement
}

// parts tells which parts the statement has that not every task needs: the settings of the lane,
// those with the same value in most tasks, and a time limit.
type parts struct{ lane, common, limit bool }

// missing returns the usual settings of a task that its session does not have yet.
func (s *shown) missing(st *state, t *Task) (missing Usual) {
	for i, usual := range t.Usual {
		if t.Keep && st.dirty || !s.has(st.shows[i], usual) { // SQL may have changed a kept state
			missing[i] = usual
		}
	}
	return missing
}

// statement returns a statement that sets the task's settings and the missing ones, and reads the
// time. It fails if the task begins after until; zero means no limit.
func (s *shown) statement(t *Task, missing Usual, until time.Time) (sql string, values [][]byte) {
	with := parts{missing[0] != nil, missing[1] != nil, !until.IsZero()}
	if s.texts[with] == "" {
		s.texts[with] = settingsText(slices.Concat(t.Settings, missing[0], missing[1]), with.limit)
	}
	for _, settings := range [...][][2]string{t.Settings, missing[0], missing[1]} {
		for _, setting := range settings {
			values = append(values, []byte(setting[1]))
		}
	}
	if with.limit {
		values = append(values, appendMoment(nil, until))
	}
	return s.texts[with], values
}

// has tells whether the session has these settings. before are the settings that were set last;
// nil: the session has those from its start.
func (s *shown) has(before, usual [][2]string) bool {
	if before != nil {
		return slices.Equal(before, usual)
	}
	return !slices.ContainsFunc(usual, func(setting [2]string) bool {
		value, known := s.base[setting[0]]
		return !known || value != setting[1]
	})
}

// settingsText returns the statement that sets these settings in order. It does not return the
// values: we do not read before the input is sent, so large values could block both directions.
func settingsText(settings [][2]string, limit bool) string {
	var b strings.Builder
	b.WriteString("SELECT pg_catalog.statement_timestamp()")
	if limit {
		fmt.Fprintf(&b, inTime, len(settings)+1)
	}
	for i, setting := range settings {
		fmt.Fprintf(&b, ", pg_catalog.set_config('%s', $%d, false) IS NULL", setting[0], i+1)
	}
	return b.String()
}

// inTime fails if the task begins too late; the task starts again when it is its turn. The search
// path is the role's own here: only a reset or constants come before it.
const inTime = `, (CASE WHEN pg_catalog.timestamptz_le(pg_catalog.statement_timestamp(), $%d::pg_catalog.timestamptz) THEN '0' ELSE 'pgtaskd: too late' END)::pg_catalog.int4`
