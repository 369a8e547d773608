package page

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// taskPage shows one task.
var taskPage = Kind{Path: "/task", Name: "task", Takes: []string{"id"}, Read: ofTarget(readTask)}

// taskView is what the template of a task needs beside its row.
type taskView struct {
	*rows.Whole
	State  string
	Stop   pgtype.Timestamptz
	Can    []act
	Life   []event
	Texts  []rows.Field // the long ones, each in a block of its own
	Others []rows.Field
	Nulls  []string // names of columns
	Graph  *graph   // nil: there are no tasks around it
}

// event is a moment in the life of a task.
type event struct {
	What  string
	At    pgtype.Timestamptz
	State string // "": of no run that has ended
	Says  string
	Error string
}

// act is something that the page offers to do with a task, and how to do it elsewhere.
type act struct {
	Title, Do string
	Shown     edit.Shown
}

func readTask(ctx context.Context, a *Asked, b *rows.Table, c *Content) error {
	id, err := a.id("id")
	if err != nil {
		return err
	}
	t, err := b.Task(ctx, id, a.Hidden)
	switch {
	case err != nil:
		return err
	case t == nil:
		return edit.Refuse(http.StatusNotFound, "there is no task %d in %s: it may have ended well and been deleted", id, a.Named())
	case t.Why == nil && len(t.Unread) == 0:
		c.Notes = append(c.Notes, "Why a task waits is not known here: the function "+b.Beside("why")+" is not there, or may not be used. pgtaskd check says what is in the way.")
	}
	c.Notes = append(c.Notes, t.Unread...)
	if hidden := a.Hidden.Names(); len(hidden) > 0 {
		c.Notes = append(c.Notes, "Not shown to readers: "+strings.Join(hidden, ", ")+".")
	}
	v := viewOf(a, t)
	c.Rows, c.View = []*rows.Whole{t}, v
	if a.User.Role == login.Operator {
		v.Can, err = actsOf(ctx, b, v, a)
	}
	return err
}

func viewOf(a *Asked, t *rows.Whole) *taskView {
	v := &taskView{Whole: t, State: t.Text("state"), Stop: t.Time("stop"), Life: lifeOf(t)}
	for _, name := range rows.Texts {
		if f := t.Field(name); f.Text != nil {
			v.Texts = append(v.Texts, f)
		}
	}
	for _, f := range t.Fields {
		switch {
		case f.Hid:
		case f.Text == nil && !f.Cut:
			v.Nulls = append(v.Nulls, f.Name)
		case slices.Contains(rows.Texts, f.Name), f.Name == "runs" && t.Runs != nil:
		default:
			v.Others = append(v.Others, f)
		}
	}
	v.Graph = graphOf(v, a)
	return v
}

// Data is what the form for other data begins with: nothing if it would hide a part of the data.
func (v *taskView) Data() string {
	if f := v.Field("data"); f.Text != nil && !f.Cut && lines(*f.Text) == *f.Text {
		return *f.Text
	}
	return ""
}

// actsOf returns what can be done with a task in its state.
func actsOf(ctx context.Context, b *rows.Table, v *taskView, a *Asked) (can []act, err error) {
	switch {
	case v.State == "PLAN":
		can = []act{{Title: "Pause", Do: "pause"}, {Title: "Cancel", Do: "cancel"}}
	case v.State == "WORK", v.State == "TAKE":
		can = []act{{Title: "Cancel", Do: "cancel"}}
	case v.State != "STOP", v.Stop.Valid:
		can = []act{{Title: "Run again", Do: "again"}}
	case v.Text("stopping") == "":
		can = []act{{Title: "Resume", Do: "resume"}, {Title: "Cancel", Do: "cancel"}}
	}
	can = append(can, act{Title: "Run a copy now", Do: "run"}, act{Title: "Delete", Do: "delete"})
	for i := range can {
		can[i].Shown, err = edit.ShowOne(ctx, b, edit.Doing{Do: can[i].Do, By: a.User.Name}, v.ID, a.Config)
		if err != nil {
			return nil, err
		}
	}
	return can, nil
}

// lifeOf returns the life of a task: inserted, planned, its runs, its end.
func lifeOf(t *rows.Whole) []event {
	says := ""
	if author := t.Text("author"); author != "" {
		says = "by " + author
	}
	first, base := t.Time("plan"), t.Time("base")
	if base.Valid {
		first = base
	}
	all := []event{{What: "Inserted", At: t.Time("created"), Says: says}, {What: "Planned for", At: first}}
	for _, run := range t.Runs {
		says := run.Cause
		if run.PID != "" {
			says += ", pid " + run.PID
		}
		all = append(all, event{What: "Started", At: run.Start}, event{What: "Ended", At: run.Stop, State: run.State, Says: says, Error: run.Error})
	}
	if base.Valid {
		all = append(all, event{What: "Planned again for", At: t.Time("plan")})
	}
	start, stop, says := t.Time("start"), t.Time("stop"), ""
	if pid := t.Text("pid"); pid != "" {
		says = "pid " + pid
	}
	if start.Valid {
		all = append(all, event{What: "Started", At: start, Says: says})
	}
	if stop.Valid {
		all = append(all, event{What: "Ended", At: stop, State: t.Text("state"), Error: t.Text("error")})
	}
	return all
}
