package exec

import (
	"encoding/json"
	"strconv"
	"time"
)

// state is what SQL has left in a session, as far as the next task needs to know it. What may have
// left anything is followed by DISCARD ALL.
type state struct {
	dirty      bool        // SQL has run that may have left something
	timeoutSet bool        // statement_timeout is ours
	own        [][2]string // settings that the task before had for itself, where the next keeps its state
	shows      Usual       // what the session shows by now, beside what it has from its start

	constants bool              // nothing but constants has run or is about to
	known     map[string]string // names of the statements that are prepared meanwhile
}

// left takes down that the SQL of a task has run, or will have. Constants change nothing in a
// session; what is rolled back makes it dirty in any case.
func (st *state) left(t *Task) { st.dirty = st.dirty || !t.Traits.Inert || len(t.Own) > 0 }

// passedOver takes down that what was sent after that state has failed, and was rolled back or
// passed over.
func (st *state) passedOver(before state) {
	*st = before
	st.dirty = true
}

// needsReset tells whether DISCARD ALL comes before a task. One that keeps the state of the one
// before it needs none: nothing of ours is prepared there, as nothing is in a session whose state is
// to be kept.
func (st *state) needsReset(t *Task) bool {
	return st.dirty && !t.Keep || len(st.known) > 0 && !t.constant()
}

// timeout is the statement that sets a task's limit, or takes back that of the one before; "": there
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

// apart is the parameter of settingApart by which the session gets the settings that the task alone has,
// and loses those that the one before had, where its state is kept; nil: there are none. It is one
// statement, however many there are, since settings can have the server say much about each.
func (st *state) apart(t *Task) []byte {
	var settings []byte // a JSON object, which no setting reads otherwise
	add := func(name string, value *string) {
		named, _ := json.Marshal(name)
		valued, _ := json.Marshal(value)
		settings = append(append(append(append(settings, ','), named...), ':'), valued...)
	}
	for _, setting := range st.own {
		add(setting[0], nil)
	}
	for _, setting := range t.Own {
		add(setting[0], &setting[1])
	}
	if st.own = t.Own; settings == nil {
		return nil
	}
	settings[0] = '{'
	return append(settings, '}')
}

// settingApart sets each to its value in their order; one without a value goes back to what it was. No row
// comes back, which would be taken for the time.
const settingApart = `SELECT FROM pg_catalog.json_each_text($1::pg_catalog.json) AS s (name, value) WHERE pg_catalog.set_config(s.name, s.value, false) IS NULL`
