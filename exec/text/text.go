package text

import (
	"strings"
	"unicode/utf8"
)

// Limit bounds the text of an error, and of all notices of a run, in bytes.
const Limit = 64 << 10

// cutMark stands where a text has been cut, and unreadable for bytes that are no text. Any database
// can store both, whatever its encoding.
const (
	cutMark    = "..."
	unreadable = "?"
)

// ASCII is a text that any database can store.
func ASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, text)
}

// validText makes any bytes a text that PostgreSQL can store: valid UTF-8 without NUL.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, unreadable), "\x00", unreadable)
}

// cutText cuts a text that is longer than limit bytes between two characters, and marks where.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(cutMark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}
