package ask

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"pgtaskd/web/edit"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Acted is the result of an act on one task, or on all that a filter matches.
type Acted struct {
	Target string `json:"target"`
	ID     int64  `json:"id,omitempty"`
	Count  int64  `json:"count"`
	outcome
}

// Act does to tasks what the page does: to those with these ids, else to all that the filter
// matches, which has the parameters of the page of tasks.
func Act(ctx context.Context, s *Screen, targets []work.Target, do string, data *string, ids []int64, filter url.Values) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	sessions := rows.New()
	defer sessions.Close()
	a := &acting{Screen: s, target: t, sessions: sessions, doing: edit.Doing{Do: do, By: "role " + t.Connect["user"], Data: data}}
	if len(ids) == 0 {
		return a.all(ctx, filter)
	}
	failed := false
	for _, id := range ids {
		done := Acted{Target: t.Name(), ID: id}
		err := sessions.Change(ctx, t, page.SearchLimit, func(ctx context.Context, b *rows.Table) error {
			return edit.One(ctx, b, a.doing, id)
		})
		var refused *edit.Refused
		switch {
		case err == nil:
			done.Count, done.outcome = 1, outcome{true, do + ": done"}
		case errors.As(err, &refused):
			done.Text, failed = refused.Text, true
		default:
			return err
		}
		if err := a.show(strconv.FormatInt(id, 10), &done); err != nil {
			return err
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// acting is an act under way.
type acting struct {
	*Screen
	target   work.Target
	sessions *rows.Sessions
	doing    edit.Doing
}

// all does the act to all that a filter matches, in steps.
func (a *acting) all(ctx context.Context, filter url.Values) error {
	var f rows.Filter
	var w edit.Walk
	asked := page.Asked{Query: filter}
	err := a.sessions.Change(ctx, a.target, page.SearchLimit, func(ctx context.Context, b *rows.Table) (err error) {
		if f, err = asked.Filter(b.Zone); err == nil {
			w, err = edit.Begin(ctx, b, &f)
		}
		return err
	})
	for most := edit.Most; err == nil && !w.Ended; {
		next := w
		err = a.sessions.Change(ctx, a.target, page.SearchLimit, func(ctx context.Context, b *rows.Table) (err error) {
			next, err = w.Step(ctx, b, a.doing, &f, most)
			return err
		})
		switch {
		case err == nil:
			w, most = next, min(2*most, edit.Most)
			a.Progress(fmt.Sprintf("%s: %d tasks", a.doing.Do, w.Done))
		case edit.Fewer(err) && most > 1:
			most, err = max(most/8, 1), nil
		}
	}
	a.Clear()
	if err != nil {
		return err
	}
	done := Acted{Target: a.target.Name(), Count: w.Done, outcome: outcome{w.Failed == 0, fmt.Sprintf("%s: %d tasks", a.doing.Do, w.Done)}}
	if w.Failed > 0 {
		done.Text += fmt.Sprintf("; %d could not be changed, the last one as %s", w.Failed, w.Error)
	}
	if err := a.show("", &done); err != nil || done.Done {
		return err
	}
	return ErrFailed
}

func (a *acting) show(what string, done *Acted) error {
	text := done.Text
	if what != "" && done.Done {
		text = what + " " + text
	}
	switch {
	case a.Objects != nil:
		return a.Object(done)
	case done.Done:
		return a.Line("%s", text)
	}
	a.Remark("%s", text)
	return nil
}
