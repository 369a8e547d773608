package work

import (
	"testing"
	"time"

	"pgtaskd/work/control"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// TestEndsOfBeforeACrash: an end that a crash of the server may have undone is not written.
func TestEndsOfBeforeACrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ended        time.Duration // relative to the crash
		marked, lazy bool
		remote       string
		want         bool
	}{
		"unmarked":                               {-1, false, false, "", true},
		"unmarked, and ended since":              {+1, false, false, "", false},
		"marked":                                 {-1, true, false, "", false},
		"marked, where commits do not wait":      {-1, true, true, "", true},
		"marked, and ended since":                {+1, true, true, "", false},
		"marked, where a remote's do not matter": {-1, true, true, "dbname=other", false},
	} {
		l := newLoop(t.Context(), newService(Target{Live: target.Live{Run: 1}}, zerologNone))
		l.control.Learn(&control.Facts{Lazy: c.lazy})
		l.ends.DropForgotten(&noon)
		one := &run.Task{Row: run.Row{ID: 1, Remote: c.remote}}
		one.Marks.Store(c.marked)
		l.tasks.Know([]*run.Task{one})
		l.inbox.Outcome(run.Outcome{Task: one, Kind: run.Finished, Stop: noon.Add(c.ended)})
		l.inbox.Take()
		if dropped := l.ends.Len() == 0; dropped != c.want || l.busy() == c.want {
			t.Error(name, ": dropped ", dropped, ", known still ", l.busy())
		}
	}
}
