package work

import (
	"strings"

	"pgtaskd/exec"
)

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *loop) ended(e end, state string) {
	l.stats.ends(state, 1)
	l.successors.endedAs(e.task.Row.ID, state)
	if !l.target.TaskLog.wants(state) {
		return
	}
	t := taskLine{id: e.task.Row.ID, state: state, group: e.task.Row.Group, attempt: e.task.Row.Attempt, start: e.start, stop: e.Stop}
	if e.task.Row.Key != nil {
		t.key = *e.task.Row.Key
	}
	if failure := e.failure(); failure != nil && state != "DONE" {
		t.error, t.sqlstate = failure.Text, failure.SQLState
	}
	l.report(t)
}

// changed is a task whose state a statement has changed without a run of ours.
type changed struct {
	id                          int64
	follows, repeats            bool
	state                       string
	group, key, sqlstate, error []byte // as the database has them; nil: NULL
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *loop) counted(all []changed) {
	for _, c := range all {
		l.stats.ends(c.state, 1)
		l.successors.over(c.id)
		l.successors.endedAs(c.id, c.state)
		if !l.target.TaskLog.wants(c.state) {
			continue
		}
		l.report(taskLine{id: c.id, state: c.state, group: l.readable(c.group), key: l.readable(c.key), sqlstate: l.readable(c.sqlstate), error: l.readable(c.error)})
	}
}

// readable is a text of the database's, as far as it can be read.
func (l *loop) readable(text []byte) string {
	if l.encoding() == "UTF8" {
		return strings.ToValidUTF8(string(text), "?")
	}
	return exec.ASCII(string(text))
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
