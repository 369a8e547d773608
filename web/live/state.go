package live

import (
	"slices"
	"strings"
	"time"

	"pgtaskd/human"
)

// bytesMost limits what a stream gets in a second, on average: large pages change less often.
const bytesMost = 200_000

// state is what a read has found.
type state struct {
	number   int      // 0 before the first read
	parts    []string // HTML; nil after an error
	events   []string // as they are sent, one for each part
	changes  string   // what a stream needs that has the state before; "": all events
	err      error
	replaced chan struct{} // closed when there is a newer one
}

// next returns the state after another one: pages of HTML, or a fault with the reason.
func (before *state) next(parts []string, err error) *state {
	now := &state{number: before.number + 1, parts: parts, err: err, replaced: make(chan struct{})}
	if err != nil {
		now.parts, now.events = nil, []string{event("fault", human.Visible(err.Error()))}
		return now
	}
	for i, part := range parts {
		now.events = append(now.events, event("page", part))
		if len(before.parts) == len(parts) && before.parts[i] != part {
			now.changes += event("page", shortened(part, before.parts[i]))
		}
	}
	return now
}

// rest is how long streams are busy with the changes of a state.
func (now *state) rest() time.Duration {
	return time.Duration(len(now.changes)) * time.Second / bytesMost
}

// shortened returns HTML in which the rows that another text has, too, are empty. Their keys and the
// attribute data-same stand for them.
func shortened(html, before string) string {
	known, keys := map[string]bool{}, map[string]int{}
	for text := range strings.SplitAfterSeq(before, rowEnd) {
		if start, key := rowIn(text); key != "" {
			known[text[start:]] = true
			keys[key]++
		}
	}
	var b strings.Builder
	for text := range strings.SplitAfterSeq(html, rowEnd) {
		start, key := rowIn(text)
		if key == "" || keys[key] > 1 || !known[text[start:]] {
			b.WriteString(text)
			continue
		}
		b.WriteString(text[:start] + `<tr data-same` + key + `>` + rowEnd)
	}
	return b.String()
}

const rowEnd = "</tr>"

// rowIn returns where the row begins that ends a text, and its key as an attribute; "": it has none.
func rowIn(text string) (start int, key string) {
	start = strings.LastIndex(text, "<tr ")
	if start < 0 || !strings.HasSuffix(text, rowEnd) {
		return 0, ""
	}
	tag, _, _ := strings.Cut(text[start:], ">") // html/template escapes it in values
	_, value, found := strings.Cut(tag, ` data-key="`)
	value, _, closed := strings.Cut(value, `"`)
	if !found || !closed || value == "" {
		return 0, ""
	}
	return start, ` data-key="` + value + `"`
}

// same reports whether a stream that has a state needs nothing to have the other.
func (now *state) same(other *state) bool { return slices.Equal(now.events, other.events) }

// lines makes a line of data of each line of a text. For HTML a carriage return ends a line, too,
// and so it does for events.
var lines = strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ")

func event(kind, data string) string {
	return "event: " + kind + "\ndata: " + lines.Replace(data) + "\n\n"
}
