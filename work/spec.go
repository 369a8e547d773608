package work

import (
	"strconv"
	"time"

	"pgtask/exec"
)

// spec makes a task ready for its session; false when it may not start. What is not exactly once is marked first.
func (r *runner) spec(t *task) (*exec.Task, bool) {
	if t.row.Input == nil || t.row.Data == nil {
		r.flush() // nothing of ours stays open while we wait
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		texts := r.ask(ask{task: t})
		if !texts.ok {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		t.row.Input, t.row.Data = &texts.input, &texts.data
	}
	if t.traits == nil {
		traits := exec.Examine(*t.row.Input)
		t.traits = &traits
		t.atomic = traits.Atomic() && t.row.Remote == ""
	}
	if t.needsMark() {
		r.flush()
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		marked := r.ask(ask{task: t, mark: true, pid: int32(r.seat.session.PID)})
		if marked.refused != nil {
			r.finish(end{task: t, kind: finished, stop: r.clock.now(), fault: marked.refused})
			return nil, false
		}
		if !marked.ok {
			r.finish(end{task: t, kind: refused, stop: r.clock.now()})
			return nil, false
		}
	}
	return &exec.Task{
		Input: *t.row.Input, Traits: *t.traits, Atomic: t.atomic, Save: t.row.Save, Keep: r.seat.keeps(t),
		Settings: r.settings(t), Timeout: t.row.Timeout, Format: t.row.Format,
		Limit: r.target.OutputLimit, Strict: r.target.OutputFail,
	}, true
}

// settings are what the session of a task shows, besides what it shows from its start on.
func (r *runner) settings(t *task) [][2]string {
	parent := ""
	if t.row.Parent != nil {
		parent = strconv.FormatInt(*t.row.Parent, 10)
	}
	return append(initial(r.target, t), [][2]string{
		{"pg_task.id", strconv.FormatInt(t.row.ID, 10)},
		{"pg_task.data", *t.row.Data},
		{"pg_task.plan", timestamp(t.row.Plan)},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(int(t.row.Attempt))},
	}...)
}

// initial are the settings that many tasks of a session share.
func initial(target Target, t *task) [][2]string {
	return [][2]string{
		{"application_name", sessionName(target, t.row.Group)},
		{"pg_task.group", t.row.Group},
		{"pg_task.schema", target.Schema},
		{"pg_task.table", target.Table},
	}
}

// done is the SQL that writes the end of a task in its own transaction, with its repetition unless it is quick.
func (r *runner) done(p *pending) string {
	id := strconv.FormatInt(p.task.row.ID, 10)
	sql := r.queries().Done(map[string]string{
		"id":     id,
		"owner":  strconv.Itoa(int(p.task.owner)),
		"start":  exec.Literal(timestamp(p.start)),
		"stop":   exec.Literal(timestamp(p.result.Stop)),
		"output": optional(p.result.Output),
		"notice": optional(p.result.Notice),
		"atomic": strconv.FormatBool(p.task.once()),
		"single": strconv.FormatBool(p.quick),
	})
	if p.quick {
		return sql
	}
	return "SET LOCAL TimeZone TO " + exec.Literal(r.timeZone()) + "; " + sql + "; " + r.queries().Repeat(id)
}

func optional(text *string) string {
	if text == nil {
		return "NULL"
	}
	return exec.Literal(*text)
}

// timestamp writes a moment so that every DateStyle and TimeZone reads it the same.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000+00") }
