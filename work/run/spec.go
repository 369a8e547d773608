package run

import (
	"strconv"
	"time"

	"pgtaskd/exec"
)

// spec makes a task ready for its session; false when it may not start. What is not exactly once is
// marked first. In a session whose last task was marked it starts when we are known to lead since:
// a new leader spares the session of a marked task, and would take what follows there for it.
func (r *runner) spec(t *Task) (*exec.Task, bool) {
	if t.Row.Data == nil && !(r.settled(t) && r.load(t)) {
		return nil, false
	}
	t.Examine()
	t.bare = t.Row.Remote == "" && r.Server.Load().Bare && !t.Traits.Inert
	if t.Row.Remote != "" {
		t.query, t.watch = r.asQuery(t)
		t.Atomic = t.query || t.watch
	}
	if r.Lanes.IsClosed() {
		r.turnAway(t, nil)
		return nil, false
	}
	if t.needsMark() {
		if !r.settled(t) {
			return nil, false
		}
		switch marked := r.Leader.Mark(r.Group.Context(), t, int32(r.session.PID)); {
		case marked.Refused != nil:
			r.note(Outcome{Task: t, Kind: Finished, Stop: r.Clock.Now(), Fault: marked.Refused})
			return nil, false
		case !marked.OK:
			r.note(Outcome{Task: t, Kind: Refused, Stop: r.Clock.Now()})
			return nil, false
		}
	} else if r.session.Shielded && t.Row.Remote == "" {
		if !r.settled(t) {
			return nil, false
		}
		if !r.Leader.Leads(r.Group.Context()) {
			r.turnAway(t, nil)
			return nil, false
		}
	}
	r.session.Shielded = false
	spec := r.made(t, t.Row.Save && r.session.Keeps(t.Lane))
	if t.ahead && t.Atomic {
		r.claims(t, spec)
	}
	return spec, true
}

// settled commits and tells what is pending, so that nothing of ours stays open while the task waits;
// false when the session is lost by that, and the task waits for another.
func (r *runner) settled(t *Task) bool {
	r.flush()
	r.post()
	if r.session == nil {
		r.turnAway(t, nil)
	}
	return r.session != nil
}

// made is the task as its session has to know it.
func (r *runner) made(t *Task, keep bool) *exec.Task {
	limits := r.Limits.Load()
	traits, own := *t.Traits, t.Row.Settings
	traits.Modes = traits.Modes || len(own) > 0 // any may be among them
	return &exec.Task{
		Sending: t.sending(),
		Input:   *t.Row.Input, Traits: traits, Atomic: t.Atomic, Save: t.Row.Save, Keep: keep,
		Settings: settings(t), Own: own, Usual: r.usual(t), Timeout: t.Row.Timeout, Format: t.Row.Format,
		Limit: limits.OutputLimit, Strict: limits.OutputFail, Query: t.query,
		Forced: t.Row.Remote == "" && (r.Foreign.Load() || t.Traits.Notifies), Guarded: t.Guarded(),
	}
}

// settings are what the session of a task shows and that of another does not.
func settings(t *Task) [][2]string {
	return [][2]string{
		{"pg_task.id", strconv.FormatInt(t.Row.ID, 10)},
		{"pg_task.plan", timestamp(t.Row.Plan)},
	}
}

// usual are the settings that a session may share with its tasks.
func (r *runner) usual(t *Task) exec.Usual {
	parent := ""
	if t.Row.Parent != nil {
		parent = strconv.FormatInt(*t.Row.Parent, 10)
	}
	return exec.Usual{t.Shows, Parameters(r.Schema, r.Table, *t.Row.Data, parent, int(t.Row.Attempt))}
}

// Parameters are the settings that a session shows of a task.
func Parameters(schema, table, data, parent string, attempt int) [][2]string {
	return [][2]string{
		{"pg_task.schema", schema},
		{"pg_task.table", table},
		{"pg_task.data", data},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(attempt)},
	}
}

// timestamp writes a moment so that every DateStyle and TimeZone reads it the same.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000+00") }
