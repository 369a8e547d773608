package work

import (
	"fmt"
	"strconv"
	"time"

	"pgtaskd/exec"
)

// spec makes a task ready for its session; false when it may not start. What is not exactly once is marked first. In a session whose last task was marked it starts when we are known to lead
// since: a new leader spares the session of a marked task, and would take what follows there for it.
func (r *runner) spec(t *task) (*exec.Task, bool) {
	if t.row.Data == nil {
		r.flush() // nothing of ours stays open while we wait
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		if !r.load(t) {
			return nil, false
		}
	}
	t.examine()
	if t.row.Remote != "" {
		t.query, t.watch = r.asQuery(t)
		t.atomic = t.query || t.watch
	}
	if r.lanes.IsClosed() {
		r.finish(end{task: t, kind: released})
		return nil, false
	}
	if t.needsMark() {
		r.flush()
		if r.seat == nil {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
		marked := r.ask(ask{task: t, pid: int32(r.seat.session.PID)})
		if marked.refused != nil {
			r.finish(end{task: t, kind: finished, stop: r.clock.now(), fault: marked.refused})
			return nil, false
		}
		if !marked.ok {
			r.finish(end{task: t, kind: refused, stop: r.clock.now()})
			return nil, false
		}
		if t.atomic && t.row.Remote == "" && t.alters() {
			t.image = r.ask(ask{task: t, kind: askImage}).text
		}
	} else if r.seat.shielded && t.row.Remote == "" {
		r.flush()
		if r.seat == nil || !r.ask(ask{task: t, kind: askLead}).ok {
			r.finish(end{task: t, kind: released})
			return nil, false
		}
	}
	r.seat.shielded = false
	return r.made(t, r.seat.keeps(t)), true
}

// made is the task as its session has to know it.
func (r *runner) made(t *task, keep bool) *exec.Task {
	live := r.live.Load()
	return &exec.Task{
		Sending: t.sending(),
		Input:   *t.row.Input, Traits: *t.traits, Atomic: t.atomic, Save: t.row.Save, Keep: keep, Wary: t.wary || t.again > 0,
		Settings: settings(t), Usual: r.usual(t), Timeout: t.row.Timeout, Format: t.row.Format,
		Limit: live.OutputLimit, Strict: live.OutputFail, Query: t.query, Watched: t.watch,
		Ours: t.row.Remote == "" && !t.row.Save && !t.traits.Reads, Settled: r.settled(t), Guarded: t.guarded(),
	}
}

// settled is a moment at which whatever the task is to find was there: when it was read, or when SQL other than its own has ended last, which may have been in its lane. One
// that must not be run again has none, since a plan that does not serve takes its run back.
func (r *runner) settled(t *task) time.Time {
	if !t.row.Rerun {
		return time.Time{}
	}
	return later(t.Read, r.others.than(*t.row.Input))
}

// settings are what the session of a task shows and that of another does not.
func settings(t *task) [][2]string {
	return [][2]string{
		{"pg_task.id", strconv.FormatInt(t.row.ID, 10)},
		{"pg_task.plan", timestamp(t.row.Plan)},
	}
}

// usual are the settings that a session may share with its tasks.
func (r *runner) usual(t *task) exec.Usual {
	if t.row.Parent == nil && *t.row.Data == "" && t.row.Attempt == 1 {
		return exec.Usual{t.shows, r.bare}
	}
	parent := ""
	if t.row.Parent != nil {
		parent = strconv.FormatInt(*t.row.Parent, 10)
	}
	return exec.Usual{t.shows, parameters(r.target, *t.row.Data, parent, int(t.row.Attempt))}
}

func parameters(target Target, data, parent string, attempt int) [][2]string {
	return [][2]string{
		{"pg_task.schema", target.Schema},
		{"pg_task.table", target.Table},
		{"pg_task.data", data},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(attempt)},
	}
}

// shown is what the sessions of a group show. Few groups come again and again.
func (l *loop) shown(group string) [][2]string {
	shows, known := l.shows[group]
	if known {
		return shows
	}
	shows = showsOf(l.target, group)
	if len(group) <= shownLongest {
		if len(l.shows) >= shownMost {
			clear(l.shows)
		}
		l.shows[group] = shows
	}
	return shows
}

func showsOf(t Target, group string) [][2]string {
	return [][2]string{{"application_name", sessionName(t, group)}, {"pg_task.group", group}}
}

// Of so many groups that is kept, and of names of so many bytes: two megabytes.
const (
	shownMost    = 5000
	shownLongest = 100
)

// initial are the settings that a session has from its start. They go into a packet that the server takes up to 10,000 bytes of.
func initial(target Target, group string) [][2]string {
	settings := append(parameters(target, "", "", 1), [2]string{"application_name", sessionName(target, group)})
	if len(group) < 1000 {
		settings = append(settings, [2]string{"pg_task.group", group})
	}
	return settings
}

// done are the calls that write the end of a task in its own transaction, with its repetition unless it is quick.
func (r *runner) done(p *pending) []exec.Call {
	q := r.queries()
	done := exec.Call{Statement: &exec.Statement{Name: "pgtaskd_done", SQL: q.Text("done")}}
	done.Int8(p.task.row.ID)
	done.Int4(int32(p.task.row.Version))
	done.Moment(p.start)
	done.Moment(p.result.Stop)
	done.Text(stored(p.result.Output, r.encoding()))
	done.Text(stored(p.result.Notice, r.encoding()))
	done.Bool(p.task.once())
	done.Bool(p.quick)
	done.Int4(int32(r.seat.session.PID))
	done.Bool(p.task.image != nil)
	done.Bool(r.seat.session.Scans)
	if p.quick {
		return []exec.Call{done}
	}
	ids := fmt.Sprintf("{%d}", p.task.row.ID)
	repeat := exec.Call{Statement: &exec.Statement{SQL: q.Text("repeat")}}
	repeat.Text(&ids)
	calls := []exec.Call{{Statement: &exec.Statement{SQL: "SET LOCAL TimeZone TO " + exec.Literal(r.timeZone())}}, done, repeat}
	if p.task.image == nil {
		return calls
	}
	unchanged := exec.Call{Statement: &exec.Statement{SQL: q.Text("unchanged")}}
	unchanged.Int8(p.task.row.ID)
	unchanged.Text(p.task.image)
	return append([]exec.Call{unchanged}, calls...)
}

// timestamp writes a moment so that every DateStyle and TimeZone reads it the same.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000+00") }
