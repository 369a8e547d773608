package timetable

import (
	"fmt"
	"strings"

	"pgtaskd/moving"
)

// Stop returns the statement that stops chains in pg_timetable.
func Stop(ids []string) string {
	return "UPDATE timetable.chain SET live = false WHERE chain_id IN (" + strings.Join(ids, ", ") + ");"
}

// Convert turns chains into jobs of a task table. They go to table, as SQL names it.
func Convert(p Place, chains []Chain, table string) (converted []moving.Job, notes moving.Notes) {
	keys := moving.Keys{}
	for _, c := range chains {
		notes.Job = fmt.Sprintf("chain %d %q, run_at %q", c.ID, moving.Cut(c.Name), moving.Cut(c.RunAt))
		if j, ok := p.convert(c, table, &notes); ok {
			j.Key = keys.Key(c.Name, fmt.Sprintf("chain %d", c.ID))
			converted = append(converted, j)
		}
	}
	return converted, notes
}

func (p Place) convert(c Chain, table string, notes *moving.Notes) (j moving.Job, ok bool) {
	if err := p.plan(c, &j, notes); err != nil {
		notes.Leave("%s", err)
		return j, false
	}
	j.From = c.ID
	parts, lost := p.parts(c, notes)
	for i := len(parts) - 1; i >= 0; i-- {
		if !parts[i].Ignore { // an earlier part that fails makes it GONE
			parts[i].OnFail = c.OnError
			break
		}
	}
	if !j.Run(table, "task", parts, lost, notes) {
		return j, false
	}
	if len(parts) == 1 && j.OnFail != "" { // of several, no part is GONE unless an earlier one has failed
		j.OnFail = unlessGone(table, j.OnFail)
	}
	if !c.Live {
		notes.Add("is not live: %s", moving.Parked)
		j.Plan = moving.Paused
	}
	if c.Exclusive {
		notes.Add("runs exclusively there: here other jobs run beside it, unless all have one group")
	}
	if c.MaxInstances > 1 {
		notes.Add("may run %d times at once there: here its runs follow on one another, unless you set overlap and max", c.MaxInstances)
	}
	if c.Client != "" {
		notes.Add("is for the client %q alone: here the controller that leads runs it", c.Client)
	}
	if c.Timeout > 0 && len(parts) > 1 {
		notes.Add("its timeout of %d ms holds for each of its %d parts", c.Timeout, len(parts))
	}
	return j, true
}

// parts groups tasks that commit together: consecutive tasks in the chain's transaction make one
// part.
func (p Place) parts(c Chain, notes *moving.Notes) (parts []moving.Step, lost int) {
	var together []Task
	inside := 0
	flush := func() {
		if len(together) > 0 {
			parts = append(parts, p.transaction(c, together, notes))
			together, inside = nil, inside+1
		}
	}
	for i, t := range c.Tasks {
		if why := p.unfit(t); why != "" {
			lost++
			notes.Add("task %d %q is left out: %s", i+1, moving.Cut(t.title()), why)
			continue
		}
		if !t.Autonomous && t.Connection == "" {
			together = append(together, t)
			continue
		}
		flush()
		part := moving.Step{Name: t.title(), SQL: t.sql(), Remote: t.Connection, Timeout: milliseconds(shorter(t.Timeout, int64(c.Timeout))), Ignore: t.IgnoreError}
		if t.Connection != "" {
			notes.Add("task %d %q has its connection in remote: unless the role is a superuser, remote must bring a password, or be a name under remotes", i+1, moving.Cut(t.title()))
		}
		parts = append(parts, part)
	}
	flush()
	if inside > 1 {
		notes.Add("its transaction is cut in %d, each of which commits by itself, since autonomous or remote tasks stand between", inside)
	}
	return parts, lost
}

// transaction makes one input of tasks that commit together.
func (p Place) transaction(c Chain, tasks []Task, notes *moving.Notes) moving.Step {
	part := moving.Step{Name: tasks[0].title(), Timeout: milliseconds(int64(c.Timeout))}
	if len(tasks) == 1 {
		part.SQL, part.Ignore = p.as(tasks[0], tasks[0].sql()), tasks[0].IgnoreError
		part.Timeout = milliseconds(shorter(tasks[0].Timeout, int64(c.Timeout)))
		return part
	}
	for i, t := range tasks {
		sql := t.sql()
		if t.IgnoreError {
			sql = ignoring(sql)
			notes.Add("task %q may fail without harm: it runs in a DO block that catches errors, which shows no output", moving.Cut(t.title()))
		}
		if t.Timeout > 0 {
			notes.Add("the timeout of task %q is not carried over: its transaction has that of the chain", moving.Cut(t.title()))
		}
		if i > 0 {
			part.SQL += "\n"
		}
		part.SQL += p.as(t, sql)
	}
	return part
}

// unfit says why a task is left out; "" if it is not.
func (p Place) unfit(t Task) string {
	switch t.Kind {
	case "PROGRAM":
		return "it starts a program, and tasks are SQL"
	case "BUILTIN":
		return fmt.Sprintf("%s is built into pg_timetable, and tasks are SQL", moving.Cut(t.Command))
	}
	if t.RunAs != "" && t.RunAs != p.User && t.Autonomous {
		return fmt.Sprintf("it runs as role %q, and what is autonomous may be unable to run behind SET ROLE: move it to a table that this role serves", t.RunAs)
	}
	if t.Connection != "" {
		if why := moving.Unfit(t.Connection); why != "" {
			return why
		}
		if t.RunAs != "" {
			return fmt.Sprintf("it runs as role %q elsewhere: name that role in remote", t.RunAs)
		}
	}
	return t.unbound()
}

// shorter returns the shorter of two times; 0 is no time.
func shorter(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func milliseconds(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%d ms", n)
}
