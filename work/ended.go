package work

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *loop) ended(e end, state string) { l.stats.ends(state, 1) }

// changed is a task whose state a statement has changed without a run of ours.
type changed struct {
	id                   int64
	repeats              bool
	state, group         string
	key, sqlstate, error *string
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *loop) counted(all []changed) {
	for _, c := range all {
		l.stats.ends(c.state, 1)
	}
}

// repeating is how many of them repeat themselves.
func repeating(all []changed) (n int) {
	for _, c := range all {
		if c.repeats {
			n++
		}
	}
	return n
}

// state is what the row shows once the end is written.
func (e *end) state() string {
	if e.failure() != nil {
		return "FAIL"
	}
	return "DONE"
}
