package work

import (
	"testing"
	"time"

	"pgtaskd/exec/text"
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

// TestEndsOfPreparedRowsOutlastNoTerm: the next term asks the server's record, since a standby that
// was promoted meanwhile may lack a commit that was answered.
func TestEndsOfPreparedRowsOutlastNoTerm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome run.Outcome
		remote  string
		left    int
	}{
		"prepared":              {run.Outcome{Xact: 7}, "", 0},
		"not prepared":          {run.Outcome{}, "", 1},
		"prepared, and refused": {run.Outcome{Xact: 7, Fault: text.NewFailure("no", "23503")}, "", 1},
		"on a remote":           {run.Outcome{Xact: 7}, "dbname=other", 1},
	} {
		l := newLoop(t.Context(), newService(Target{Live: target.Live{Run: 1}}, zerologNone))
		one := &run.Task{Row: run.Row{ID: 1, Remote: c.remote}}
		one.Marks.Store(true)
		l.tasks.Know([]*run.Task{one})
		c.outcome.Task, c.outcome.Kind, c.outcome.Stop = one, run.Finished, noon
		l.inbox.Outcome(c.outcome)
		l.inbox.Take()
		if l.ends.Len() != 1 {
			t.Error(name, ": no end")
		}
		if l.ends.DropForgotten(nil); l.ends.Len() != c.left {
			t.Errorf("%s: %d ends are left, want %d", name, l.ends.Len(), c.left)
		}
	}
}
