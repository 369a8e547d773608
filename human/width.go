package human

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns how many columns of a terminal a text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Cut shortens a text to a width.
func Cut(text string, width int) string {
	if len(text) <= width || Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	start, _ := split(text, width-1)
	return start + "…"
}

// Wrap breaks a text into lines between words, at most so many: the last one is cut.
func Wrap(text string, width, most int) (lines []string) {
	for len(lines) < most-1 {
		start, rest := split(text, width)
		if rest == "" || start == "" {
			break
		}
		if at := strings.LastIndexByte(start, ' '); rest[0] != ' ' && strings.TrimSpace(start[:max(at, 0)]) != "" {
			start, rest = start[:at], start[at:]+rest
		}
		lines, text = append(lines, strings.TrimRight(start, " ")), "  "+strings.TrimLeft(rest, " ")
	}
	return append(lines, Cut(text, width))
}

// split returns the start of a text that has the width, and the rest.
func split(text string, width int) (start, rest string) {
	used, at, state := 0, 0, -1
	for at < len(text) {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		if used += w; used > width {
			break
		}
		at, state = at+len(cluster), next
	}
	return text[:at], text[at:]
}
