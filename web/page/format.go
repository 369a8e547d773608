package page

import (
	"fmt"
	"html/template"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
)

// functions are those of all templates. Texts may come from anybody: hidden characters are shown as
// escapes, and html/template escapes the rest.
var functions = template.FuncMap{
	"plain": plain, "text": text, "lines": lines, "long": long, "number": text, "count": Count, "bytes": size,
	"duration": Duration, "state": Word, "badge": badge, "hidden": hidden, "class": class,
}

// parts are the pieces of HTML that functions return.
var parts = template.Must(template.New("").Parse(`
{{define "time"}}<time{{with .ISO}} datetime="{{.}}"{{end}} title="{{.Exact}}">{{.Clock}}{{with .Zone}} <small>{{.}}</small>{{end}}</time>{{end}}
{{define "long"}}{{if .Whole}}<details class="long"><summary><bdi>{{.Start}}…</bdi></summary><pre dir="auto">{{.Whole}}</pre></details>{{else}}<bdi>{{.Start}}</bdi>{{end}}{{end}}
{{define "badge"}}<span class="state {{.Class}}">{{.State}} <small>{{.Word}}</small></span>{{end}}
`))

func part(name string, of any) (template.HTML, error) {
	var b strings.Builder
	err := parts.ExecuteTemplate(&b, name, of)
	return template.HTML(b.String()), err
}

// plain returns a value as text, and "" for NULL.
func plain(v any) string {
	if at := whole(v); at.IsValid() {
		return fmt.Sprint(at)
	}
	return ""
}

// whole follows pointers to a value; that of NULL is not valid.
func whole(v any) reflect.Value {
	at := reflect.ValueOf(v)
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	return at
}

// text shows a text on one line.
func text(v any) string { return human.Visible(plain(v)) }

// lines shows a text as it is, with its lines and tabs.
func lines(v any) string {
	var b strings.Builder
	rest := plain(v)
	for {
		at := strings.IndexAny(rest, "\n\t")
		if at < 0 {
			b.WriteString(human.Visible(rest))
			return b.String()
		}
		b.WriteString(human.Visible(rest[:at]))
		b.WriteByte(rest[at])
		rest = rest[at+1:]
	}
}

const longMost = 160 // characters that long shows at once

// long shows the start of a text's first line, and the whole to unfold.
func long(v any) (template.HTML, error) {
	whole := plain(v)
	if whole == "" {
		return "", nil
	}
	start, rest, _ := strings.Cut(whole, "\n")
	cut := 0
	for n := 0; n < longMost && cut < len(start); n++ {
		_, width := utf8.DecodeRuneInString(start[cut:])
		cut += width
	}
	shown := struct{ Start, Whole string }{Start: human.Visible(start[:cut])}
	if cut < len(start) || strings.TrimSpace(rest) != "" {
		shown.Whole = lines(whole)
	}
	return part("long", shown)
}

// hidden returns fields of a form that nobody sees, by name and value.
func hidden(pairs ...any) template.HTML {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, `<input type="hidden" name="%s" value="%s">`, pairs[i], template.HTMLEscapeString(plain(pairs[i+1])))
	}
	return template.HTML(b.String())
}

// Count writes a whole number with its thousands apart.
func Count(v any) string {
	digits := plain(v)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// size writes a number of bytes.
func size(n int64) string {
	bytes, units := float64(n), []string{"bytes", "kB", "MB", "GB", "TB"}
	unit := 0
	for bytes >= 1000 && unit < len(units)-1 {
		bytes, unit = bytes/1000, unit+1
	}
	if unit == 0 || bytes >= 100 {
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.1f %s", bytes, units[unit])
}

// Duration writes seconds for people; "" for NULL.
func Duration(v any) string {
	at := whole(v)
	if !at.IsValid() {
		return ""
	}
	seconds := at.Convert(reflect.TypeFor[float64]()).Float()
	if seconds > 9e9 || seconds < -9e9 { // more than a time.Duration holds
		return fmt.Sprintf("%.0f days", seconds/86400)
	}
	return human.Duration(time.Duration(seconds * float64(time.Second)))
}

// Clock writes a time in a zone for people, one of today without its date, others without seconds; ""
// for NULL.
func Clock(at pgtype.Timestamptz, zone string) string {
	if !at.Valid {
		return ""
	}
	location := (&Asked{}).location(zone)
	m := momentOf(at, location)
	if clock, today := strings.CutPrefix(m.Clock, time.Now().In(location).Format("2006-01-02 ")); today {
		return clock + " " + m.Zone
	}
	if m.Zone == "" {
		return m.Clock
	}
	return at.Time.In(location).Format("2006-01-02 15:04 MST")
}

// Word returns the word that people use for a state. For STOP, the time of the task's stop tells a
// task that was cancelled from a paused one.
func Word(v any, stop ...pgtype.Timestamptz) string {
	switch name := text(v); {
	case name == "STOP" && len(stop) > 0 && stop[0].Valid:
		return "cancelled"
	case words[name] != "":
		return words[name]
	default:
		return name
	}
}

var words = map[string]string{
	"PLAN": "waits", "TAKE": "taken", "WORK": "runs", "DONE": "done", "FAIL": "failed", "STOP": "paused", "GONE": "expired",
}

// badge shows a state with its colour, its shape and its word.
func badge(v any, stop ...pgtype.Timestamptz) (template.HTML, error) {
	return part("badge", struct{ Class, State, Word string }{class(v, stop...), text(v), Word(v, stop...)})
}

// class returns the class of a state for the stylesheet; "" if it is none: some columns may have
// any text.
func class(v any, stop ...pgtype.Timestamptz) string {
	if words[text(v)] == "" {
		return ""
	}
	return Word(v, stop...)
}
