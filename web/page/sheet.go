package page

import (
	"embed"
	"html/template"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
)

//go:embed html/*.html
var files embed.FS

// templates has layout.html, and one template for each Kind.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"text":   text,
	"number": func(n int64) string { return strconv.FormatInt(n, 10) },
}).ParseFS(files, "html/*.html"))

// Sheet is what the templates get.
type Sheet struct {
	Asked   *Asked
	Heads   []rows.Head // of all targets
	Content *Content
}

// Write writes the whole page.
func (s *Sheet) Write(w io.Writer) error { return templates.ExecuteTemplate(w, "layout", s) }

// WriteMain writes what changes while the page is open: the part of the page that a stream sends.
func (s *Sheet) WriteMain(w io.Writer) error { return templates.ExecuteTemplate(w, s.Asked.Kind.Name, s) }

// Time writes a moment in the zone of the request.
func (s *Sheet) Time(at pgtype.Timestamptz) template.HTML { return "" }

// text shows a text with its control characters.
func text(v any) string { return "" }
