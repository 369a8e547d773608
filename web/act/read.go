package act

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pgtaskd/conf"
	"pgtaskd/web/edit"
	"pgtaskd/web/page"
)

// stops is the act that stops an act on many tasks.
const stops = "stop"

// filters are the parameters that select tasks, beside id; others are those of each act.
var (
	filters    = []string{"state", "group", "key", "since", "until", "q", "sqlstate", "error"}
	others     = []string{"target", "do", "id", "act", "data", "token", "back", "tz", "sort", "after"}
	parameters = slices.Concat(others, filters)
)

// read reads the parameters of a request from its body, a form or JSON. What is not known is
// refused: a filter with a typing error would match more than was meant.
func read(w http.ResponseWriter, r *http.Request, asked *page.Asked, known []string) (*request, error) {
	q := &request{Request: r, w: w}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var values url.Values
	var err error
	switch kind {
	case "application/json":
		q.json = true
		values, err = fromJSON(r.Body)
	case "application/x-www-form-urlencoded":
		q.json = strings.Contains(r.Header.Get("Accept"), "application/json")
		values, err = fromForm(r)
	default:
		return nil, page.Wrong("the body must be application/x-www-form-urlencoded or application/json")
	}
	if err != nil {
		return nil, err
	}
	for name, all := range values {
		switch {
		case !slices.Contains(known, name):
			return nil, page.Wrong("there is no parameter %q%s", name, conf.DidYouMean(name, known))
		case len(all) > 1 && name != "state":
			return nil, page.Wrong("%s is given twice", name)
		case slices.ContainsFunc(all, func(v string) bool { return !utf8.ValidString(v) || strings.Contains(v, "\x00") }):
			return nil, page.Wrong("%s must be text in UTF-8 without the character NUL", name)
		}
	}
	sent := *asked
	sent.Query = values
	q.asked = &sent
	if q.get("target") == "" && len(asked.Targets) > 1 {
		return nil, page.Wrong("there are several targets: give target, such as %s", asked.Targets[0].Name)
	}
	q.target, err = q.asked.Target()
	return q, err
}

// fromForm leaves out data if it is empty, as a form always sends the field. Browsers turn each end
// of a line into two characters; this takes that back.
func fromForm(r *http.Request) (url.Values, error) {
	err := r.ParseForm()
	if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
		return nil, err
	} else if err != nil {
		return nil, page.Wrong("the form cannot be read: %s", err)
	}
	for _, all := range r.PostForm {
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], "\r\n", "\n")
		}
	}
	if r.PostForm.Get("data") == "" {
		r.PostForm.Del("data")
	}
	return r.PostForm, nil
}

// fromJSON reads an object. A null has no value; a list is of states. What would be lost on the way
// is refused, as the filter would match more: a name that is given twice, a null in a list.
func fromJSON(body io.Reader) (url.Values, error) {
	values := url.Values{}
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	first, err := decoder.Token()
	if err == nil && first != json.Delim('{') {
		err = errors.New("it is something else")
	}
	for err == nil && decoder.More() {
		var name json.Token
		var value any
		if name, err = decoder.Token(); err == nil {
			err = decoder.Decode(&value)
		}
		if err == nil {
			err = addJSON(values, fmt.Sprint(name), value)
		}
	}
	if err == nil {
		_, err = decoder.Token() // the end of the object
	}
	if err == nil && decoder.Decode(&struct{}{}) != io.EOF {
		err = errors.New("there is more after the object")
	}
	if err == nil || errors.As(err, new(*http.MaxBytesError)) || errors.As(err, new(*edit.Refused)) {
		return values, err
	}
	return nil, page.Wrong("the body must be an object of JSON: %s", err)
}

func addJSON(values url.Values, name string, value any) error {
	if values.Has(name) {
		return page.Wrong("%s is given twice", name)
	}
	values[name] = nil
	list, ok := value.([]any)
	if !ok && value != nil {
		list = []any{value}
	}
	for _, value := range list {
		switch v := value.(type) {
		case string:
			values.Add(name, v)
		case json.Number:
			values.Add(name, v.String())
		case bool:
			values.Add(name, strconv.FormatBool(v))
		default:
			return page.Wrong("%q must be a text or a number", name)
		}
	}
	return nil
}

func (q *request) get(name string) string { return q.asked.Query.Get(name) }

// id reads an id.
func (q *request) id(name string) (int64, error) {
	id, err := strconv.ParseInt(q.get(name), 10, 64)
	if err != nil {
		return 0, page.Wrong("%s must be a whole number, not %q", name, q.get(name))
	}
	return id, nil
}

// single reports whether the request means one task by its id alone.
func (q *request) single() bool {
	return q.get("id") != "" && !slices.ContainsFunc(filters, func(name string) bool { return q.get(name) != "" })
}
