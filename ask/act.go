package ask

import (
	"context"
	"errors"
	"fmt"
	"net/url"

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
	return showEach(s, ids, func(id int64) (any, *outcome, error) {
		done := Acted{Target: t.Name(), ID: id}
		err := sessions.Change(ctx, t, page.SearchLimit, func(ctx context.Context, b *rows.Table) error {
			return edit.One(ctx, b, a.doing, id)
		})
		var refused *edit.Refused
		switch {
		case err == nil:
			done.Count, done.outcome = 1, outcome{Done: true, Text: do + ": done", what: fmt.Sprint(id, " ")}
		case errors.As(err, &refused):
			done.Text, err = refused.Text, nil
		}
		return &done, &done.outcome, err
	})
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
	done := Acted{Target: a.target.Name(), Count: w.Done, outcome: outcome{Done: w.Failed == 0, Text: fmt.Sprintf("%s: %d tasks", a.doing.Do, w.Done)}}
	if w.Failed > 0 {
		done.Text += fmt.Sprintf("; %d could not be changed, the last one as %s", w.Failed, w.Error)
	}
	return showEach(a.Screen, []*Acted{&done}, func(done *Acted) (any, *outcome, error) { return done, &done.outcome, nil })
}
