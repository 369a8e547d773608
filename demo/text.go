package demo

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// result says of a task, by its state, when it starts, for how long it has worked, or how it ended.
func (t task) result(s signs) string {
	switch {
	case t.state == "STOP" && !t.working() && t.error == "":
		return "paused until somebody sets it to PLAN"
	case t.error != "" && t.ended():
		first, _, _ := strings.Cut(t.error, "\n")
		return s.oneLine(first)
	case t.ended():
		return s.oneLine(strings.TrimRight(t.output+"\n"+t.notice, "\n"))
	case t.working() && t.start != nil:
		return seconds(t.seen.Sub(*t.start))
	case t.plan == nil:
		return "until somebody plans it"
	case t.plan.After(t.seen):
		return "in " + seconds(t.plan.Sub(t.seen))
	}
	return "waits its turn"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// oneLine makes text fit to be shown on a terminal: without anything that would move its cursor or
// change its colours.
func (s signs) oneLine(text string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == '\n':
			b.WriteString(s.newline)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// fit cuts or pads text to as many columns.
func (s signs) fit(text string, columns int) string {
	text = s.cut(text, columns)
	return text + strings.Repeat(" ", max(columns-textWidth(text), 0))
}

// cut is text in at most as many columns, with a sign at its end if that is not all.
func (s signs) cut(text string, columns int) string {
	if columns <= 0 {
		return ""
	}
	used, short := 0, 0 // short: where the text ends when the sign is to have room
	for i, r := range text {
		if used < columns {
			short = i
		}
		if used += runeWidth(r); used > columns {
			return text[:short] + s.more
		}
	}
	return text
}

func textWidth(text string) (columns int) {
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
