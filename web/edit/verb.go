package edit

import "fmt"

// Verbs are what the page does to tasks.
var Verbs = []string{"cancel", "pause", "resume", "run", "again", "delete"}

// Happens says what an act on many tasks will do.
var Happens = map[string]string{
	"cancel": "Those that run are cancelled; those that wait or are paused end now. Their state is STOP, and no repetition follows. Tasks that wait for them become GONE.",
	"pause":  "Those that wait are paused until somebody resumes them. Those that run go on.",
	"resume": "Those that are paused wait again.",
	"run":    "A copy of each runs once, now, without its key, cron, repeat and after.",
	"again":  "Those that have ended run again, as new. Their column runs keeps the earlier runs.",
	"delete": "Their rows are deleted. Those that run are cancelled. Tasks that wait for them take that for a good end.",
}

// before is a task before an act.
type before struct {
	state           string
	ended, stopping bool
	role            string // "": the table has none
}

// refusal says why an act leaves a task alone.
func (w before) refusal(do string) string {
	is := fmt.Sprintf("it has ended (%s)", w.state)
	switch {
	case do == "run":
		return fmt.Sprintf("it belongs to role %q, which the page cannot become", w.role)
	case w.state == "STOP" && w.stopping && !w.ended:
		is = "it is being cancelled"
	case w.state == "STOP" && !w.ended:
		is = "it is paused"
	case w.state == "PLAN":
		is = "it waits"
	case w.state == "WORK", w.state == "TAKE":
		is = "it runs"
	}
	switch do {
	case "cancel":
		return is + ", so there is nothing to cancel"
	case "pause":
		return is + "; only a task that waits can be paused"
	case "resume":
		return is + "; only a paused task can be resumed"
	case "again":
		return is + "; only a task that has ended can run again"
	}
	return is
}
