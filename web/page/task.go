package page

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// taskPage shows one task.
var taskPage = Kind{Path: "/task", Name: "task", Takes: []string{"id"}, Needs: login.Reader, Read: readTask}

// taskView is what the template of a task needs beside its row.
type taskView struct {
	*rows.Whole
	Target string
	State  string
	Stop   pgtype.Timestamptz
	Can    []act
	Life   []event
	Texts  []rows.Field // the long ones, each in a block of its own
	Others []rows.Field
	Nulls  []string // names of columns
	Before []link   // tasks to which this one is due, or after which it runs
	After  []link
}

// event is a moment in the life of a task.
type event struct {
	What  string
	At    pgtype.Timestamptz
	State string // "": of no run that has ended
	Says  string
	Error string
}

// link leads to another task.
type link struct {
	Is  string // what it is to this task
	URL string // "": of no task
	rows.Around
}

// act is something that the page offers to do with a task.
type act struct{ Do, Title string }

// blocks are the texts that are shown whole.
var blocks = []string{"error", "output", "notice", "input", "data"}

func readTask(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	id, err := a.id("id")
	if err != nil {
		return nil, err
	}
	c := &Content{}
	err = s.Read(ctx, t.Target, ListLimit, func(ctx context.Context, b *rows.Table) error {
		found, err := b.Task(ctx, id, a.Hidden)
		switch {
		case err != nil:
			return err
		case found == nil:
			return missing("there is no task %d in %s: it may have ended well and been deleted", id, t.Name)
		case found.Why == nil && len(found.Unsaid) == 0:
			c.Notes = append(c.Notes, "Why a task waits is not known here: the function "+b.Beside("why")+" is not there, or may not be used. pgtaskd check says what is in the way.")
		}
		c.Notes = append(c.Notes, found.Unsaid...)
		c.Rows, c.View = []*rows.Whole{found}, viewOf(a, t.Name, found)
		return nil
	})
	if hidden := a.Hidden.Names(); len(hidden) > 0 && err == nil {
		c.Notes = append(c.Notes, "Not shown to readers: "+strings.Join(hidden, ", ")+".")
	}
	return c, err
}

func viewOf(a *Asked, target string, t *rows.Whole) *taskView {
	v := &taskView{Whole: t, Target: target, State: t.Text("state"), Stop: t.Time("stop"), Life: lifeOf(t)}
	v.Can = actsOf(v.State, v.Stop.Valid, t.Text("stopping") == "t")
	for _, name := range blocks {
		if f := t.Field(name); f.Text != nil {
			v.Texts = append(v.Texts, f)
		}
	}
	for _, f := range t.Fields {
		switch {
		case f.Text == nil && !f.Cut:
			v.Nulls = append(v.Nulls, f.Name)
		case slices.Contains(blocks, f.Name), f.Name == "runs" && t.Runs != nil:
		default:
			v.Others = append(v.Others, f)
		}
	}
	v.around(a)
	return v
}

// around sorts the tasks around the task into those before and after it.
func (v *taskView) around(a *Asked) {
	count := map[string]int{}
	for _, other := range v.Around {
		l := link{URL: a.Link("/task", "id", strconv.FormatInt(other.ID, 10)), Around: other}
		if count[other.Kind]++; count[other.Kind] > rows.AroundMost {
			l = link{Is: "and more"}
		}
		side := &v.Before
		switch {
		case count[other.Kind] > rows.AroundMost+1:
			continue
		case other.Kind == "parent" && other.Repeats:
			l.Is = "the run before it"
		case other.Kind == "parent":
			l.Is = "inserted it"
		case other.Kind == "after":
			l.Is = cmp.Or(l.Is, "it runs after")
		case other.Kind == "next":
			side, l.Is = &v.After, "its next repetition"
		default:
			side, l.Is = &v.After, cmp.Or(l.Is, "runs after it")
		}
		*side = append(*side, l)
	}
}

// Data is what the form for other data begins with.
func (v *taskView) Data() string {
	if f := v.Field("data"); f.Text != nil && !f.Cut {
		return *f.Text
	}
	return ""
}

// actsOf returns what can be done with a task in this state.
func actsOf(state string, ended, stopping bool) []act {
	var all []act
	switch {
	case state == "PLAN":
		all = []act{{"pause", "Pause"}, {"cancel", "Cancel"}}
	case state == "WORK", state == "TAKE":
		all = []act{{"cancel", "Cancel"}}
	case state == "STOP" && !ended && !stopping:
		all = []act{{"resume", "Resume"}, {"cancel", "Cancel"}}
	case state != "STOP" || ended:
		all = []act{{"again", "Run again"}}
	}
	return append(all, act{"run", "Run a copy now"}, act{"delete", "Delete"})
}

// lifeOf returns the life of a task: inserted, planned, its runs, its end.
func lifeOf(t *rows.Whole) []event {
	says := ""
	if author := t.Text("author"); author != "" {
		says = "by " + author
	}
	all := []event{{What: "inserted", At: t.Time("created"), Says: says}}
	plan, base := t.Time("plan"), t.Time("base")
	if base.Valid {
		all = append(all, event{What: "planned for", At: base})
	} else {
		all = append(all, event{What: "planned for", At: plan})
	}
	for _, run := range t.Runs {
		says := run.Cause
		if run.PID != "" {
			says += ", backend " + run.PID
		}
		all = append(all, event{What: "started", At: run.Start}, event{What: "ended", At: run.Stop, State: run.State, Says: says, Error: run.Error})
	}
	if base.Valid {
		all = append(all, event{What: "planned anew for", At: plan})
	}
	start, stop, says := t.Time("start"), t.Time("stop"), ""
	if pid := t.Text("pid"); pid != "" {
		says = "backend " + pid
	}
	if start.Valid {
		all = append(all, event{What: "started", At: start, Says: says})
	}
	if stop.Valid {
		all = append(all, event{What: "ended", At: stop, State: t.Text("state"), Error: t.Text("error")})
	}
	return all
}
