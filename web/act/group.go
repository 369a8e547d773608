package act

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pgtaskd/web/edit"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// ofGroups are the parameters of a change of a group.
var ofGroups = slices.Concat([]string{"target", "group", "back", "tz"}, edit.GroupColumns)

// Group answers POST /group as Act does. Only the columns that are given change; an empty text is
// NULL.
func (a *Acts) Group(w http.ResponseWriter, r *http.Request, asked *page.Asked) error {
	return a.answer(w, r, asked, ofGroups, func(q *request) error {
		columns := map[string]*string{}
		for _, name := range edit.GroupColumns {
			if !q.asked.Query.Has(name) {
				continue
			}
			columns[name] = nil
			if value := q.get(name); value != "" {
				columns[name] = &value
			}
		}
		switch {
		case q.get("group") == "":
			return page.Wrong("group is missing")
		case len(columns) == 0:
			return page.Wrong("give one of the columns %s", strings.Join(edit.GroupColumns, ", "))
		}
		err := a.sessions.Change(q.Context(), q.target.Target, page.ListLimit, func(ctx context.Context, b *rows.Table) error {
			times := *q.asked
			times.Query = url.Values{"until": {q.get("until")}, "tz": q.asked.Query["tz"]}
			f, err := times.Filter(b.Zone)
			if err != nil {
				return err
			}
			return edit.Group(ctx, b, q.asked.User.Name, q.get("group"), columns, f.Until)
		})
		if err != nil {
			return err
		}
		return q.done("/groups", "target", q.target.Name)
	})
}
