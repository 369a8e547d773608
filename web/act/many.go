package act

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"

	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// filter reads the filter of a request; zone is that of the target.
func (q *request) filter(zone string) (*rows.Filter, error) {
	f, err := q.asked.Filter(zone)
	if err == nil {
		err = q.asked.Listed(&f)
	}
	return &f, err
}

// meant writes what a token is for.
func (q *request) meant(d edit.Doing, f *rows.Filter) (string, error) {
	filter, err := edit.Keep(f)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal([]any{q.target.Name, d.Do, string(filter), d.Data})
	hash := sha256.Sum256(text) // data may be long
	return string(hash[:]), err
}

// preview answers the first request of an act on many tasks.
func (a *Acts) preview(q *request, d edit.Doing) error {
	v := page.Preview{Shown: edit.Shown{Do: d.Do}, What: edit.Happens[d.Do], Fields: q.fields(), Back: q.back()}
	var meant string
	err := a.sessions.Read(q.Context(), q.target.Target, page.SearchLimit, func(ctx context.Context, b *rows.Table) error {
		f, err := q.filter(b.Zone)
		if err != nil {
			return err
		}
		if meant, err = q.meant(d, f); err != nil {
			return err
		}
		if reflect.DeepEqual(*f, rows.Filter{}) {
			v.What = "There is no filter: all tasks of the target " + q.target.Name + ". " + v.What
		}
		if err = edit.CanRecord(b); err != nil {
			return err
		}
		if v.Shown, err = edit.ShowMany(ctx, b, d, f, q.asked.Config); err != nil {
			return err
		}
		limit := countTime
		if f.Text != "" {
			limit = searchTime
		}
		v.Count, v.Beyond, err = edit.Count(ctx, b, d, f, limit)
		return err
	})
	if errors.Is(err, rows.ErrEncoding) {
		return page.Wrong("%s", err)
	}
	var refused *edit.Refused
	if errors.As(err, &refused) && refused.Status == http.StatusConflict && !q.json {
		v.Missing = refused.Text
		return a.html(q, refused.Status, &v)
	}
	if err != nil {
		return err
	}
	matched := v.Count
	if v.Beyond {
		matched = max(matched, rows.CountMost) + 1
	}
	v.Token = a.tokens.give(d.By, meant, matched)
	if q.json {
		return page.SendJSON(q.w, http.StatusOK, result{Count: v.Count, Over: v.Beyond, Token: v.Token, Text: v.What})
	}
	return a.html(q, http.StatusOK, &v)
}

// html answers with the page of an act on many tasks.
func (a *Acts) html(q *request, status int, v *page.Preview) error {
	asked := *q.asked
	asked.Kind = &page.PreviewKind
	asked.Query = q.list()
	sheet := page.Sheet{Asked: &asked, Heads: page.Heads(q.Context(), a.sessions, asked.Targets), Content: &page.Content{View: v}}
	return sheet.Send(q.w, status)
}

// begin answers the second request of an act on many tasks: the act begins.
func (a *Acts) begin(q *request, d edit.Doing) error {
	var id, matched int64
	err := a.sessions.Change(q.Context(), q.target.Target, page.ListLimit, func(ctx context.Context, b *rows.Table) error {
		f, err := q.filter(b.Zone)
		if err != nil {
			return err
		}
		meant, err := q.meant(d, f)
		if err != nil {
			return err
		}
		var ok bool
		if matched, ok = a.tokens.take(q.get("token"), d.By, meant); !ok {
			return &edit.Refused{Status: http.StatusConflict, Text: "the token is not for this act, or was used, or is older than ten minutes: ask once more without a token"}
		}
		id, err = edit.Start(ctx, b, d, f, matched)
		return err
	})
	if err != nil {
		return err
	}
	a.look(q.target.Name)
	if q.json {
		return page.SendJSON(q.w, http.StatusAccepted, result{Count: min(matched, rows.CountMost), Over: matched > rows.CountMost, Act: id})
	}
	return q.lead(q.back())
}

// stop answers a request to stop an act on many tasks.
func (a *Acts) stop(q *request) error {
	id, err := q.id("act")
	if err != nil {
		return err
	}
	err = a.sessions.Change(q.Context(), q.target.Target, page.ListLimit, func(ctx context.Context, b *rows.Table) error {
		return edit.Stop(ctx, b, id, q.asked.User.Name)
	})
	if err != nil {
		return err
	}
	return q.done("/acts", "target", q.target.Name)
}

// fields are the parameters that the second request sends again.
func (q *request) fields() (all []page.Field) {
	for _, name := range parameters {
		for _, value := range q.asked.Query[name] {
			if name != "token" && name != "do" && value != "" {
				all = append(all, page.Field{Name: name, Value: value})
			}
		}
	}
	return all
}

// back returns where a browser goes after an act on many tasks: where it came from, else to the
// tasks of the filter.
func (q *request) back() string {
	if back := q.get("back"); back != "" && login.Local(back, q.asked.Prefix) == back {
		return back
	}
	list := *q.asked
	list.Kind, list.Query = &page.Kind{Path: "/tasks"}, q.list()
	return list.With()
}

// list are the parameters of the list of the tasks that the act is for.
func (q *request) list() url.Values {
	v := url.Values{}
	for _, name := range append([]string{"target", "tz", "id"}, filters...) {
		if values := q.asked.Query[name]; q.get(name) != "" {
			v[name] = values
		}
	}
	return v
}
