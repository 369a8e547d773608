package web

import (
	"net/http"
	"strings"
	"time"

	"pgtaskd/human"
	"pgtaskd/web/page"
)

// ready answers 200 if each target is led or stood by for, its leader can have sessions, and the
// configuration in force is that of the file; else 503 with one line for each reason.
func ready(q *request) error {
	var reasons []string
	if why := q.site.targets.staleness(); why != "" {
		reasons = append(reasons, line("the configuration is stale, the one before stays in force: "+why))
	}
	for _, t := range q.site.targets.list() {
		standing, closed := t.stats.Standing(), t.stats.Closed()
		switch {
		case standing.Leads && closed != "":
			reasons = append(reasons, line(t.name+": no session can be opened, and no task runs: "+closed))
		case standing.Leads, standing.StandsBy, standing.Quiet:
		case standing.Fault != "":
			reasons = append(reasons, line(t.name+": "+standing.Fault))
		default:
			reasons = append(reasons, line(t.name+": neither led nor stood by for, as it starts, tries again or drains"))
		}
	}
	return healthy(q, reasons)
}

// overdueMost is more than a step of a loop takes, however slow its server is: each waits for at most
// control.PrepareLimit, or for a few statements.
const overdueMost = 5 * time.Minute

// alive answers 200 if the loop of each target goes on, whatever its server does; else 503 with one
// line for each that hangs.
func alive(q *request) error {
	var hang []string
	for _, t := range q.site.targets.list() {
		if late := t.stats.Overdue(); late >= overdueMost {
			hang = append(hang, line(t.name+": its loop has not moved for "+human.Duration(late)+": restart pgtaskd"))
		}
	}
	return healthy(q, hang)
}

// healthy answers 200 if nothing is wrong, else 503.
func healthy(q *request, wrong []string) error {
	if len(wrong) > 0 {
		return answer(q.w, http.StatusServiceUnavailable, strings.Join(wrong, "\n"))
	}
	return answer(q.w, http.StatusOK, "ok")
}

// answer writes lines of text.
func answer(w http.ResponseWriter, status int, text string) error {
	return page.Send(w, status, "text/plain; charset=utf-8", []byte(text+"\n"))
}

// line writes a text on one line of at most 1000 bytes, with hidden characters as escapes.
func line(text string) string {
	const most = 1000
	text = human.Visible(text)
	return strings.ToValidUTF8(text[:min(len(text), most)], "?")
}
