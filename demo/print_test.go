package demo

import (
	"slices"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(seconds float64) *time.Time {
	at := now.Add(time.Duration(seconds * float64(time.Second)))
	return &at
}

func TestStory(t *testing.T) {
	t.Parallel()
	cases := []struct {
		task task
		want string
	}{
		{task{state: "PLAN", input: "SELECT 1"}, "until somebody plans it, SELECT 1"},
		{task{state: "PLAN", plan: at(1.25), input: "SELECT 1"}, "in 1.2 s, SELECT 1"},
		{task{state: "PLAN", plan: at(-1), input: "SELECT 1"}, "SELECT 1"},
		{task{state: "WORK", start: at(-2), input: "SELECT 1"}, "SELECT 1"},
		{task{state: "STOP"}, "paused until somebody sets it to PLAN"},
		{task{state: "DONE", stop: at(0), output: "a\tb\n1\t\x1b[2J", notice: "NOTICE:  n\n"}, "a b↵1 ?[2J↵NOTICE:  n"},
		{task{state: "FAIL", stop: at(0), output: "1", error: "ERROR:  no\nSTATEMENT:  x"}, "ERROR:  no"},
	}
	for _, c := range cases {
		c.task.seen = now
		if got := oneLine(c.task.story(c.task.stage())); got != c.want {
			t.Errorf("%s: %q, want %q", c.task.state, got, c.want)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	h := history{states: map[int64]string{}, ends: map[string]int{}}
	first := task{id: 1, state: "DONE", created: at(0), stop: at(2)}
	second := task{id: 2, state: "PLAN", created: at(1)}
	ids := func(tasks []task) (ids []int64) {
		for _, t := range tasks {
			ids = append(ids, t.id)
		}
		return ids
	}
	if got := ids(h.take([]task{first, second})); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("in the order of the changes: %v", got)
	}
	second.state, second.start = "STOP", at(2) // told to stop, but still running
	if got := h.take([]task{second}); len(got) != 1 || got[0].stage() != "WORK" {
		t.Errorf("a task that has still to stop: %v", got)
	}
	second.stop = at(3)
	if got := h.take([]task{second}); len(got) != 1 || h.String() != "1 done, 0 failed, 1 stopped" {
		t.Errorf("%v, %s", got, h)
	}
	if len(h.take([]task{second})) > 0 || len(h.states) != 1 {
		t.Errorf("nothing has changed; what is gone is forgotten: %v", h.states)
	}
}
