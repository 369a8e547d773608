package demo

import (
	"fmt"
	"slices"
	"time"
)

// history has the tasks' states at the last look, and counts their ends.
type history struct {
	states map[int64]string // of the tasks in the table at the last look
	ends   map[string]int   // number of ended tasks by state
}

// take compares the tasks with the last look, and returns those whose state has changed, in the
// order of the changes.
func (h history) take(tasks []task) (changed []task) {
	there := make(map[int64]struct{}, len(tasks))
	for _, t := range tasks {
		there[t.id] = struct{}{}
		if state := t.stage(); state != h.states[t.id] {
			h.states[t.id] = state
			changed = append(changed, t)
			if t.ended() {
				h.ends[t.state]++
			}
		}
	}
	for id := range h.states {
		if _, ok := there[id]; !ok {
			delete(h.states, id)
		}
	}
	slices.SortStableFunc(changed, func(a, b task) int { return a.changed().Compare(b.changed()) })
	return changed
}

// String returns, for example, "41 done, 3 failed, 1 stopped".
func (h history) String() string {
	text := fmt.Sprintf("%d done, %d failed", h.ends["DONE"], h.ends["FAIL"])
	for _, other := range []struct{ state, word string }{{"STOP", "stopped"}, {"GONE", "gone"}} {
		if n := h.ends[other.state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, other.word)
		}
	}
	return text
}

func (t task) ended() bool { return t.stop != nil && t.state != "PLAN" }

// stage is the state, but WORK for a task that was told to stop and still runs.
func (t task) stage() string {
	if t.state == "STOP" && t.start != nil && t.stop == nil {
		return "WORK"
	}
	return t.state
}

// changed is when the task got its state, as far as its row tells.
func (t task) changed() time.Time {
	switch {
	case t.ended():
		return *t.stop
	case t.start != nil:
		return *t.start
	case t.state == "PLAN" && t.error == "" && t.created != nil: // with an error it has returned to PLAN
		return *t.created
	}
	return t.seen
}
