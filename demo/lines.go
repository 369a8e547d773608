package demo

import (
	"fmt"
	"io"

	"github.com/rs/zerolog"
)

// longestLine bounds the line of one change.
const longestLine = 160

// lines is the view of a file or a pipe: a line for each change of a task.
type lines struct {
	out  io.Writer
	head heading
}

func (l *lines) log(log zerolog.Logger) zerolog.Logger { return log }

func (l *lines) open() {
	fmt.Fprintf(l.out, "pgtaskd demo: PostgreSQL %s, table public.task. ^C ends it. %s\n", l.head.version, l.head.about)
	fmt.Fprintf(l.out, "Metrics: %s\n", l.head.metrics)
	fmt.Fprintf(l.out, "From another terminal, to look at it and to insert tasks such as %s\n%s\n", invitation, l.head.command)
}

func (l *lines) show(_, changed []task, _ history) {
	for _, t := range changed {
		state := t.stage()
		fmt.Fprintf(l.out, "%s task %d %s %s: %s\n", t.changed().Local().Format("15:04:05"), t.id, state,
			unicodeSigns.oneLine(t.group), unicodeSigns.cut(t.story(state), longestLine))
	}
}

// story is the line for a task that has come to a state: first its input, at the end its result.
func (t task) story(state string) string {
	switch {
	case state == "PLAN" && t.plan != nil && t.created != nil && t.plan.After(*t.created):
		return t.result(unicodeSigns) + ", " + unicodeSigns.oneLine(t.input)
	case state == "PLAN" || state == "WORK":
		return unicodeSigns.oneLine(t.input)
	}
	return t.result(unicodeSigns)
}

func (l *lines) ending() { fmt.Fprintln(l.out, "The demo ends.") }

func (l *lines) close(h history) { fmt.Fprintf(l.out, "Tasks: %s.\n", h) }
