package ask

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
)

// Task is a task as lists and the tail show it. Moments are in ISO 8601, in the server's zone; long
// texts are cut.
type Task struct {
	Target   string  `json:"target"`
	ID       int64   `json:"id"`
	State    string  `json:"state"`
	Group    string  `json:"group"`
	Key      string  `json:"key,omitempty"`
	Plan     string  `json:"plan"`
	Start    string  `json:"start,omitempty"`
	Stop     string  `json:"stop,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"` // from start to stop, or to now
	Attempt  int32   `json:"attempt"`
	PID      int32   `json:"pid,omitempty"`
	SQLState string  `json:"sqlstate,omitempty"`
	Input    string  `json:"input"`
	Output   *string `json:"output,omitempty"`
	Error    string  `json:"error,omitempty"`
	Notice   string  `json:"notice,omitempty"`
	Next     int64   `json:"next,omitempty"`

	values string // the output without a header
	late   bool   // not looked at, since the time was over
}

// collect reads tasks as the part task of SQL has them.
func (b *table) collect(list pgx.Rows) ([]Task, error) {
	return pgx.CollectRows(list, func(row pgx.CollectableRow) (t Task, err error) {
		t.Target = b.Target.Name()
		var has bool
		var output string
		err = row.Scan(&t.ID, &t.State, &t.Group, &t.Key, &t.Plan, &t.Start, &t.Stop, &t.Seconds, &t.Attempt, &t.PID, &t.SQLState,
			&t.Input, &has, &output, &t.values, &t.Error, &t.Notice, &t.Next, &t.late)
		if has {
			t.Output = &output
		}
		if t.Start == "" || math.IsInf(t.Seconds, 0) {
			t.Seconds = 0
		}
		t.Plan, t.Start, t.Stop = human.ISO(t.Plan), human.ISO(t.Start), human.ISO(t.Stop)
		return t, err
	})
}

// textWidth is how many characters of an input, output or error a line shows.
const textWidth = 80

// says returns the text of a task for a line: its error, else the first values of its output, else
// its input.
func (t Task) says() string {
	if t.State != "WORK" && t.Error != "" {
		return first(t.Error, textWidth)
	}
	return cmp.Or(first(t.values, textWidth), first(t.Input, textWidth))
}

// took returns how long a task ran, or has been running.
func (t Task) took() string {
	if t.Start == "" {
		return "-"
	}
	return span(t.Seconds)
}

// state returns a task's state for people, who see whether STOP means a pause.
func (t Task) state() string {
	if t.State == "STOP" && t.Stop == "" {
		return "STOP (paused)"
	}
	return t.State
}

func taskName(id int64, b *table) string { return fmt.Sprintf("task %d of %s", id, b.Target.Name()) }

// moreLines is how many lines of an error or of notices are shown.
const moreLines = 10

// Event is an event of the tail: one line or more.
type Event struct {
	Event string `json:"event"` // start, end, retry, or deleted: the row is gone
	Task
}

// at returns the time of the event.
func (e Event) at() string {
	if e.Event == "end" {
		return e.Stop
	}
	return e.Start
}

// lines returns the lines of an event: the first names it, the others hold the error and the
// notices.
func (e Event) lines() []string {
	_, clock, _ := strings.Cut(brief(e.at()), " ")
	if zone := strings.IndexAny(clock, "+-"); zone > 0 {
		clock = clock[:zone]
	}
	switch e.Event {
	case "deleted":
		return []string{fmt.Sprintf("         gone   %d: it ended well and was deleted, or somebody has deleted it", e.ID)}
	case "start":
		return []string{fmt.Sprintf("%s start  %d %s: %s", clock, e.ID, e.Group, first(e.Input, textWidth))}
	}
	lines := []string{fmt.Sprintf("%s %-6s %d %s: %s", clock, e.State, e.ID, e.Group, e.took())}
	switch {
	case e.Event == "retry":
		lines[0] = fmt.Sprintf("         again  %d %s: at %s", e.ID, e.Group, brief(e.Plan))
		lines = append(lines, indented(e.Error)...)
	case e.Error != "":
		lines = append(lines, indented(e.Error)...)
	case first(e.values, textWidth) != "":
		lines[0] += ", " + first(e.values, textWidth)
	}
	return append(lines, indented(e.Notice)...)
}

// indented returns the first lines of a text.
func indented(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if len(lines) == moreLines {
			return append(lines, "           …")
		}
		lines = append(lines, "           "+strings.TrimRight(line, "\r\n"))
	}
	return lines
}
