package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

const (
	longestLine = 160 // characters of a task's line
	// invitation is a first task for the user.
	invitation = `INSERT INTO task (input) VALUES ('SELECT now()');`
)

// greet tells how to look at the table, and how to end the demo.
func greet(out io.Writer, p *place, version, page, token string) {
	fmt.Fprintf(out, "pgtaskd demo: PostgreSQL %s, table public.task. ^C ends it. %s\n", version, p.about())
	fmt.Fprintf(out, "The page: %s/  (token: %s)\nMetrics: %[1]s/metrics\n", page, token)
	fmt.Fprintln(out, "States: PLAN waits, WORK runs, DONE done, FAIL failed, STOP cancelled or paused, GONE expired. A * marks your own tasks.")
	if len(p.examples) == 0 {
		fmt.Fprintln(out, "There are no examples: insert tasks of your own.")
	}
	fmt.Fprintf(out, "From another terminal, to look at it and to insert tasks such as %s\n%s\n", invitation, p.command())
	if screen, ok := out.(*Screen); ok {
		screen.pin()
	}
}

// print writes a line for a task whose state has changed.
func (t task) print(out io.Writer, yours bool) {
	mark := ""
	if yours {
		mark = "*"
	}
	state := t.stage()
	line := []rune(oneLine(t.story(state)))
	if len(line) > longestLine {
		line = append(line[:longestLine-1], '…')
	}
	fmt.Fprintf(out, "%s task %d%s %s %s: %s\n", t.changed().Local().Format("15:04:05"), t.id, mark, state, oneLine(t.group), string(line))
}

// story is the task's input first, and its result at the end.
func (t task) story(state string) string {
	switch {
	case state == "PLAN" && t.plan == nil:
		return "until somebody plans it, " + t.input
	case state == "PLAN" && t.plan.After(t.seen):
		return fmt.Sprintf("in %.1f s, %s", t.plan.Sub(t.seen).Seconds(), t.input)
	case state == "PLAN" || state == "WORK":
		return t.input
	case t.error != "":
		first, _, _ := strings.Cut(t.error, "\n")
		return first
	case t.ended():
		return strings.TrimRight(t.output+"\n"+t.notice, "\n")
	}
	return "paused until somebody sets it to PLAN"
}

// oneLine makes text safe for a terminal: nothing in it moves the cursor or changes colours.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '↵'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '?'
	}, strings.TrimSpace(text))
}
