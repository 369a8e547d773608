package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

//go:embed html/*.html
var files embed.FS

// templates has layout.html, and one template for each Kind.
var templates = template.Must(template.New("").Funcs(functions).ParseFS(files, "html/*.html"))

// Sheet is what the templates get.
type Sheet struct {
	Asked   *Asked
	Heads   []rows.Head // of all targets
	Content *Content
	Fault   string // why there is no content; "": there is
}

// Write writes the whole page.
func (s *Sheet) Write(w io.Writer) error { return templates.ExecuteTemplate(w, "layout", s) }

// Send answers with the whole page.
func (s *Sheet) Send(w http.ResponseWriter, status int) error {
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		return err
	}
	return Send(w, status, "text/html; charset=utf-8", text.Bytes())
}

// Send answers with a text of a type.
func Send(w http.ResponseWriter, status int, kind string, text []byte) error {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client has gone
	return nil
}

// SendJSON answers with a value as JSON.
func SendJSON(w http.ResponseWriter, status int, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return Send(w, status, "application/json", text.Bytes())
}

// Parts returns what changes while the page is open: elements with ids, as they stand in the page.
func (s *Sheet) Parts() ([]string, error) {
	var all []string
	for _, name := range []string{"heads", "main"} {
		var b strings.Builder
		if err := templates.ExecuteTemplate(&b, name, s); err != nil {
			return nil, err
		}
		all = append(all, b.String())
	}
	return all, nil
}

// Main returns the part of the page that is of its kind.
func (s *Sheet) Main() (template.HTML, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, s.Asked.Kind.Name, s)
	return template.HTML(b.String()), err
}

// Kinds returns the pages of the navigation.
func (s *Sheet) Kinds() (all []Kind) {
	for _, k := range Kinds {
		if k.Title != "" {
			all = append(all, k)
		}
	}
	return all
}

// Acts reports whether the user may change tasks.
func (s *Sheet) Acts() bool { return s.Asked.User.Role == login.Operator }

// Post returns the beginning of a form that changes something, with fields by name and value. It is
// for the target of this page, and leads back to it, unless the fields begin with target or end with
// back.
func (s *Sheet) Post(path, class string, fields ...any) template.HTML {
	if len(fields) == 0 || fields[0] != "target" {
		fields = append([]any{"target", s.Asked.Named()}, fields...)
	}
	if fields[len(fields)-2] != "back" {
		fields = append(fields, "back", s.Asked.With("after", s.Asked.Query.Get("after")))
	}
	return template.HTML(fmt.Sprintf(`<form class="%s" method="post" action="%s/%s">`, class, template.HTMLEscapeString(s.Asked.Prefix), path)) + hidden(fields...)
}

// Now returns when the page was made.
func (s *Sheet) Now() pgtype.Timestamptz { return pgtype.Timestamptz{Time: time.Now(), Valid: true} }

// Time shows a moment in the zone of the request, which may be the target's.
func (s *Sheet) Time(at pgtype.Timestamptz) (template.HTML, error) { return s.TimeIn(at, "") }

// TimeIn shows a moment of a row that has a zone of its own; "" and NULL: it has none.
func (s *Sheet) TimeIn(at pgtype.Timestamptz, zone any) (template.HTML, error) {
	if !at.Valid {
		return "", nil
	}
	job := plain(zone)
	if job == "" {
		job = s.zone()
	}
	return part("time", momentOf(at, s.Asked.location(job)))
}

// zone returns the zone of the target that is shown.
func (s *Sheet) zone() string {
	t, err := s.Asked.Target()
	if err != nil {
		return ""
	}
	for _, h := range s.Heads {
		if h.Target == t.Name && h.Zone != "" {
			return h.Zone
		}
	}
	return t.TimeZone
}

// Targets returns the links that choose a target: those of this page if it has a filter to keep.
func (s *Sheet) Targets() (all []Choice) {
	current := ""
	if t, err := s.Asked.Target(); err == nil {
		current = t.Name
	}
	path := s.Asked.Kind.Path
	if s.Asked.Kind.Title == "" {
		path = "/"
	}
	if s.Asked.Kind.Path == "/" {
		if !s.Asked.Query.Has("target") {
			current = ""
		}
		all = append(all, Choice{"all targets", s.Asked.Link("/", "target", ""), current == ""})
	}
	for _, t := range s.Asked.Targets {
		link := s.Asked.Link(path, "target", t.Name)
		if path == s.Asked.Kind.Path { // another table has other ids and keys
			link = s.Asked.With("target", t.Name, "id", "", "key", "")
		}
		all = append(all, Choice{t.Name, link, current == t.Name})
	}
	return all
}

// Zones returns the links of the zone switch. The browser's own zone is added by the script.
func (s *Sheet) Zones() []Choice {
	now := s.Asked.Query.Get("tz")
	all := []Choice{{"the job's", s.Asked.With("tz", ""), s.Asked.jobsZone()}, {"UTC", s.Asked.With("tz", "UTC"), now == "UTC"}}
	if !s.Asked.jobsZone() && now != "UTC" {
		all = append(all, Choice{now, s.Asked.With(), true})
	}
	return all
}

// Choice is a link of several, of which one is current.
type Choice struct {
	Name, Link string
	Current    bool
}
