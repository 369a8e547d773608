package run

import (
	"strconv"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
)

// attempt is one run of a task: how it runs. Its runner makes it when the task starts, and decides
// once the task has its session.
type attempt struct {
	task    *Task // nil: there is none
	atomic  bool  // in a transaction of ours
	query   bool  // in one on a remote, where it must not write
	watch   bool  // in one on a remote, where it may write, so that its like are known
	again   bool  // it runs once more, for reasons of our own,
	outside bool  // since it cannot run in a transaction,
	claims  bool  // or since it locks its row, which is prepared before its SQL begins

	claim   Prepared      // what became of that,
	refused *text.Failure // and why not
}

// decide says how the task runs on the session.
func (a *attempt) decide(d *Dispatcher, session *pool.Session) {
	t := a.task
	t.Examine()
	if t.Row.Remote == "" {
		a.atomic = t.atomic() && !a.outside
		return
	}
	a.query, a.watch = false, false // one that has written was taken for a query
	if !a.again && !session.Foreign {
		a.query, a.watch = d.Profiles.asQuery(t)
	}
	a.atomic = a.query || a.watch
}

// once tells whether the effects of the run happen exactly once, as far as its SQL shows.
func (a *attempt) once() bool {
	return a.task.Traits != nil && a.atomic && !a.task.Traits.Outside && !a.watch
}

// repeatable tells whether the task may run again.
func (a *attempt) repeatable() bool { return a.task.Row.Rerun || a.once() }

// guarded tells whether the mark must be on the server's disk before the task starts: a crash that
// forgot it would have the task run twice, where it must not, or judge it as one that has had no
// effect.
func (a *attempt) guarded() bool { return !a.once() || !a.task.Row.Rerun }

// needsMark tells whether the row must show WORK before the task starts: it is not exactly once, or
// must not run again, or it has met a lock on its row before.
func (a *attempt) needsMark() bool {
	t := a.task
	return t.Row.marksFirst() || !a.atomic || a.watch || a.again || t.Again > 0 || t.Traits.Outside
}

// spec is the task as its session has to know it. keep: it runs in the state that the task before
// has left.
func (d *Dispatcher) spec(a *attempt, keep bool) *exec.Task {
	t, live, parent := a.task, d.Live.Load(), ""
	if t.Row.Parent != nil {
		parent = strconv.FormatInt(*t.Row.Parent, 10)
	}
	traits, how := *t.Traits, &t.Row.How
	traits.Modes = traits.Modes || len(how.Settings) > 0 // any may be among them
	return &exec.Task{
		Sending: t.sending(),
		Input:   *t.Row.Input, Traits: traits, Atomic: a.atomic, Save: how.Save, Keep: keep,
		Settings: [][2]string{
			{"pg_task.id", strconv.FormatInt(t.Row.ID, 10)},
			{"pg_task.plan", t.Row.Schedule.Plan.UTC().Format("2006-01-02 15:04:05.000000+00")}, // for any DateStyle and TimeZone
		},
		Usual: exec.Usual{
			pool.OfGroup(d.Target, t.Row.Group), pool.OfTask(d.Target, *t.Row.Data, parent, int(t.Row.Attempt)),
		},
		Own: how.Settings, Timeout: how.Timeout, Format: how.Format, Limit: live.OutputLimit, Strict: live.OutputFail,
		Query: a.query, Forced: t.Row.Remote == "" && (d.Foreign.Load() || t.Traits.Notifies), Guarded: a.guarded(),
	}
}
