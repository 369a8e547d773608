package human

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names, errors and messages of servers come from others. A terminal must show their text and must
// not obey it.

// Hidden reports characters that a terminal does not show as they are: control characters, those
// that change the direction of writing, those without width, and invalid ones.
func Hidden(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Visible writes hidden characters as escapes such as \n, \x1b and \u202e. The result is one line.
func Visible(text string) string {
	if strings.IndexFunc(text, Hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !Hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// nameMost is how many characters of a name Legible shows.
const nameMost = 100

// Legible writes a name that a user has chosen for the log: at most its first 100 characters, with
// hidden ones as escapes.
func Legible(name string) string {
	if runes := []rune(name); len(runes) > nameMost {
		return Visible(string(runes[:nameMost])) + "…"
	}
	return Visible(name)
}
