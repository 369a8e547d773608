package exec

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

// constant tells whether a task runs nothing but constants, which leave nothing, and find nothing.
func (t *Task) constant() bool { return t.Traits.Inert && len(t.Own) == 0 }
