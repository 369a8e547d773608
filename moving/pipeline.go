package moving

import (
	"fmt"
	"strings"

	"pgtaskd/remote"
)

// Step is one task of a pipeline.
type Step struct {
	Name    string // written as a comment
	SQL     string
	Remote  string
	Timeout string // in PostgreSQL's syntax for intervals
	OnFail  string
	Ignore  bool // the next step runs even if this one fails
}

// Run gives a job its steps. what is the scheduler's word for a step; lost is how many steps cannot
// be carried over. It reports whether any step is left.
func (j *Job) Run(table, what string, steps []Step, lost int, notes *Notes) bool {
	switch {
	case len(steps) == 0 && lost == 0:
		notes.Leave("it has no %s that is enabled", what)
		return false
	case len(steps) == 0:
		notes.Leave("none of its %ss can be carried over", what)
		return false
	case lost > 0:
		notes.Add(Lacks, lost, what)
		j.Plan = Paused
	}
	if len(steps) == 1 {
		one := steps[0]
		j.Input, j.Remote, j.Timeout, j.OnFail = one.SQL, one.Remote, one.Timeout, one.OnFail
	} else {
		j.Input = pipeline(table, steps)
	}
	return true
}

// Unfit says why a connection string cannot become the remote of a task; "" if it can.
func Unfit(connection string) string {
	settings, err := remote.Parse(connection)
	switch {
	case err != nil:
		return "its connection string does not parse"
	case settings.Secret():
		return "its connection string holds a password: give it a name under remotes in the configuration, and the task that name as remote"
	}
	return ""
}

// pipeline returns the input of a job that inserts its steps as tasks; each waits for the one
// before. All are in the job's group, which runs one task at a time, in order. That order is enough
// to wait for a step that may fail, and it delays the job's next run until the last step has ended.
func pipeline(table string, steps []Step) string {
	var b strings.Builder
	b.WriteString("DECLARE\n    done pg_catalog.int8[]; -- the step that must have ended well\n    step pg_catalog.int8;\nBEGIN\n")
	for i, s := range steps {
		if s.Name != "" {
			fmt.Fprintf(&b, "    -- %q\n", s.Name)
		}
		columns := []string{`"group"`, "max", "active", "input"}
		values := []string{"pg_catalog.current_setting('pg_task.group')", "0", "'0'", Dollars("step", s.SQL)}
		add := func(column, value string) {
			columns, values = append(columns, column), append(values, value)
		}
		text := func(column, value string) {
			if value != "" {
				add(column, Dollars("text", value))
			}
		}
		text("remote", s.Remote)
		text("timeout", s.Timeout)
		text("on_fail", s.OnFail)
		if i > 0 {
			add("after", "done")
		}
		fmt.Fprintf(&b, "    INSERT INTO %s (%s)\n    VALUES (%s)\n    RETURNING id INTO step;\n", table,
			strings.Join(columns, ", "), strings.Join(values, ", "))
		if !s.Ignore {
			b.WriteString("    done := ARRAY[step];\n")
		}
	}
	b.WriteString("END")
	return "DO " + Dollars("pipeline", "\n"+b.String()+"\n")
}

// Dollars quotes a text for SQL without changing it.
func Dollars(tag, text string) string {
	quote := "$" + tag + "$"
	for n := 2; strings.Contains(text+"$", quote); n++ {
		quote = fmt.Sprintf("$%s%d$", tag, n)
	}
	return quote + text + quote
}
