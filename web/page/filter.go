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
			return f, wrong("state must be among %s, not %q", strings.Join(rows.States, ", "), state)
		}
		f.States = append(f.States, state)
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
