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
	"plain": plain, "text": text, "lines": lines, "long": long, "number": text, "count": count, "bytes": size,
	"duration": duration, "state": state, "badge": badge, "lower": strings.ToLower,
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
	at := reflect.ValueOf(v)
	for at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
		if at.IsNil() {
			return ""
		}
		at = at.Elem()
	}
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case fmt.Stringer:
		return v.String()
	}
	if at.Kind() == reflect.Slice && at.Type().Elem().Kind() == reflect.Uint8 { // json.RawMessage
		return string(at.Bytes())
	}
	return fmt.Sprint(at.Interface())
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

// count writes a whole number with its thousands apart.
func count(v any) string {
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
func size(v any) string {
	bytes, ok := float(v)
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	unit := 0
	for bytes >= 1000 && unit < len(units)-1 {
		bytes, unit = bytes/1000, unit+1
	}
	switch {
	case !ok:
		return ""
	case unit == 0 || bytes >= 100:
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.1f %s", bytes, units[unit])
}

// duration writes a time in seconds, a time.Duration or an interval; "" for NULL.
func duration(v any) string {
	const month, day = 30 * 24 * time.Hour, 24 * time.Hour
	switch v := v.(type) {
	case time.Duration:
		return human.Duration(v)
	case pgtype.Interval:
		if !v.Valid {
			return ""
		}
		v64 := float64(v.Months)*month.Seconds() + float64(v.Days)*day.Seconds() + float64(v.Microseconds)/1e6
		return duration(v64)
	}
	seconds, ok := float(v)
	switch {
	case !ok || seconds != seconds:
		return ""
	case seconds > 9e9 || seconds < -9e9: // more than a time.Duration holds
		return fmt.Sprintf("%.0f days", seconds/day.Seconds())
	}
	return human.Duration(time.Duration(seconds * float64(time.Second)))
}

// float returns a number of any type; false for NULL.
func float(v any) (float64, bool) {
	at := reflect.ValueOf(v)
	for at.Kind() == reflect.Pointer && !at.IsNil() {
		at = at.Elem()
	}
	switch {
	case at.IsValid() && at.CanInt():
		return float64(at.Int()), true
	case at.IsValid() && at.CanUint():
		return float64(at.Uint()), true
	case at.IsValid() && at.CanFloat():
		return at.Float(), true
	}
	return 0, false
}

// state returns the word that people use for a state. For STOP, the time of the task's stop tells a
// task that was cancelled from a paused one.
func state(v any, stop ...pgtype.Timestamptz) string {
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
	return part("badge", struct{ Class, State, Word string }{class(v, stop...), text(v), state(v, stop...)})
}

// class returns the class of a state for the stylesheet; "" if it is none: some columns may have
// any text.
func class(v any, stop ...pgtype.Timestamptz) string {
	if words[text(v)] == "" {
		return ""
	}
	return state(v, stop...)
}
