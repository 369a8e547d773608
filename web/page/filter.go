package page

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
)

// filterNames are the parameters that select tasks, in the order in which they are shown.
var filterNames = []string{"state", "group", "key", "id", "since", "until", "sqlstate", "error", "q"}

// Filter reads the parameters that select tasks. Times without an offset are in the zone of the
// request; job is the zone of the target. Blank parameters select all, as a form sends them.
func (a *Asked) Filter(job string) (f rows.Filter, err error) {
	q := a.Query
	f = rows.Filter{Group: q.Get("group"), Key: q.Get("key"), Text: q.Get("q"), SQLState: q.Get("sqlstate"), Error: q.Get("error"), Hidden: a.Hidden}
	for state := range strings.SplitSeq(strings.Join(q["state"], ","), ",") {
		if state == "" {
			continue
		}
		if state = strings.ToUpper(strings.TrimSpace(state)); !slices.Contains(rows.States, state) {
			return f, Wrong("state must be one of %s, not %q", strings.Join(rows.States, ", "), state)
		}
		f.States = append(f.States, state)
	}
	if len(f.States) == 0 && strings.Join(q["state"], "") != "" {
		return f, Wrong("state must be among %s", strings.Join(rows.States, ", "))
	}
	if q.Get("id") != "" {
		f.ID.Valid = true
		if f.ID.Int64, err = a.id("id"); err != nil {
			return f, err
		}
	}
	for name, at := range map[string]*pgtype.Timestamptz{"since": &f.Since, "until": &f.Until} {
		if q.Get(name) == "" {
			continue
		}
		if *at, err = a.moment(job, q.Get(name)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Listed narrows a filter to what a list in the order of the request shows.
func (a *Asked) Listed(f *rows.Filter) error {
	if a.Query.Get("sort") != rows.Due {
		return nil
	}
	states := slices.DeleteFunc(slices.Clone(rows.Waiting), func(state string) bool {
		return len(f.States) > 0 && !slices.Contains(f.States, state)
	})
	if len(states) == 0 {
		return Wrong("sort=due lists only tasks that wait or run: no %s", strings.Join(f.States, " and no "))
	}
	f.States = states
	return nil
}
