package ask

import (
	"fmt"
	"strings"
)

// moreLines are the most lines of an error or of notices that are shown.
const moreLines = 10

// Event is a line or more of the tail.
type Event struct {
	Event string `json:"event"` // start, end, retry, or deleted: the row is gone
	Task
}

// at is when it happened.
func (e Event) at() string {
	if e.Event == "end" {
		return e.Stop
	}
	return e.Start
}

// lines are those of an event: the first names it, the others have the rest of an error, and the
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
	case e.Output != nil && first(*e.Output, textWidth) != "":
		lines[0] += ", " + first(*e.Output, textWidth)
	}
	return append(lines, indented(e.Notice)...)
}

// indented are the first lines of a text.
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
