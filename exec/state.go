package exec

import (
	"encoding/json"
	"strconv"
	"time"
)

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
