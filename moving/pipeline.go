package moving

import (
	"fmt"
	"strings"
)

// Step is one task of a pipeline.
type Step struct {
	Name    string // shown in a comment
	SQL     string
	Remote  string
	Timeout string // as PostgreSQL reads an interval
	OnFail  string
	Ignore  bool // the next step runs, however this one ends
}

// Pipeline is the input of a job that inserts its steps as tasks, each to run when the one before
// has ended. They are in the job's group, whose tasks run one at a time and in order: that is
// enough to wait for a step that need not end well, and the job's next run begins after the last of
// them.
func Pipeline(table string, steps []Step) string {
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

// Dollars quotes a text for SQL as it is.
func Dollars(tag, text string) string {
	quote := "$" + tag + "$"
	for n := 2; strings.Contains(text+"$", quote); n++ {
		quote = fmt.Sprintf("$%s%d$", tag, n)
	}
	return quote + text + quote
}
