package web

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"pgtaskd/conf"
	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// asked reads a request for a page. A parameter that the page does not know is refused: a filter
// with a typing error would silently show everything.
func (q *request) asked(kind *page.Kind, query string) (*page.Asked, error) {
	a := &page.Asked{Kind: kind, Targets: q.site.targets.pages(), Query: url.Values{}, User: q.user, Hidden: q.hidden(), Prefix: q.settings.Prefix, Config: q.settings.File, Demo: q.site.Demo}
	values, err := url.ParseQuery(query)
	if err != nil {
		return a, page.Wrong("the parameters of the URL cannot be read: %s", err)
	}
	known := append([]string{"target", "tz"}, kind.Takes...)
	for name, all := range values {
		if !slices.Contains(known, name) {
			return a, page.Wrong("this page has no parameter \"%s\"%s", line(name), conf.DidYouMean(name, known))
		}
		if all = slices.DeleteFunc(all, func(v string) bool { return v == "" }); len(all) > 0 { // forms send empty fields
			a.Query[name] = all
		}
		if len(all) > 1 && name != "state" {
			return a, page.Wrong("%s is given twice", name)
		}
	}
	return a, a.Check()
}

// hidden returns what the sender does not see.
func (q *request) hidden() (h rows.Hidden) {
	if q.user.Role >= login.Operator {
		return h
	}
	hides := func(column string) bool { return slices.Contains(q.settings.Hide, column) }
	return rows.Hidden{Data: hides(conf.HideData), Input: hides(conf.HideInput), Output: hides(conf.HideOutput)}
}

// json answers with the rows of a page as a JSON array.
func (q *request) json(kind *page.Kind) error {
	asked, err := q.asked(kind, q.URL.RawQuery)
	if err != nil {
		return err
	}
	asked.JSON = true
	content, err := kind.Read(q.Context(), q.site.sessions, asked)
	if err != nil {
		return err
	}
	if rows := reflect.ValueOf(content.Rows); !rows.IsValid() || rows.IsNil() {
		content.Rows = []any{}
	}
	q.next(content, kind.Path+".json")
	return page.SendJSON(q.w, http.StatusOK, content.Rows)
}

// next adds the link to the next page to the answer.
func (q *request) next(content *page.Content, path string) {
	if _, query, found := strings.Cut(content.Next, "?"); found {
		q.w.Header().Set("Link", "<"+q.settings.Prefix+path+"?"+query+`>; rel="next"`)
	}
}

// html answers with a page. If it cannot be read, the page says why, with its head.
func (q *request) html(kind *page.Kind) error {
	asked, err := q.asked(kind, q.URL.RawQuery)
	if err == nil && kind.Raw != nil {
		return kind.Raw(q.w, q.Request, q.site.sessions, asked)
	}
	if t, err := asked.Target(); err == nil {
		q.site.acts.Seen(t.Name)
	}
	content, status := &page.Content{}, http.StatusOK
	if err == nil {
		content, err = kind.Read(q.Context(), q.site.sessions, asked)
	}
	sheet := page.Sheet{Asked: asked, Content: content}
	if err != nil {
		if !q.browser() {
			return err
		}
		sheet.Content, sheet.Fault = &page.Content{}, line(err.Error())
		status = statusOf(err)
	}
	sheet.Heads = page.Heads(q.Context(), q.site.sessions, asked.Targets)
	q.next(sheet.Content, kind.Path)
	if err := sheet.Send(q.w, status); err != nil {
		q.site.log.Error().Err(err).Str("page", kind.Path).Msg("cannot write a page")
		return edit.Refuse(http.StatusInternalServerError, "the page cannot be written: the log says why")
	}
	return nil
}

// browser reports whether the client shows HTML to a person.
func (q *request) browser() bool { return strings.Contains(q.Header.Get("Accept"), "text/html") }
