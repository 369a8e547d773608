package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// errorLines are those that errors and notices share.
func errorLines(e *pgproto3.ErrorResponse) []line {
	severity := e.SeverityUnlocalized
	if severity == "" { // a server before 9.6, or none that is PostgreSQL
		severity = e.Severity
	}
	if !isSeverity(severity) {
		severity = "ERROR"
	}
	return []line{
		{severity, e.Message + position(e)},
		{"DETAIL", e.Detail},
		{"HINT", e.Hint},
		{"QUERY", e.InternalQuery},
	}
}

// isSeverity tells what may be a severity, in any language.
func isSeverity(text string) bool {
	const longest = 40
	return text != "" && len(text) <= longest && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

func position(e *pgproto3.ErrorResponse) string {
	switch {
	case e.Position > 0:
		return fmt.Sprintf(" at character %d", e.Position)
	case e.InternalPosition > 0:
		return fmt.Sprintf(" at character %d", e.InternalPosition)
	}
	return ""
}

// line is one field of an error; the first of an error is its severity and message.
type line struct{ name, text string }

// logText writes lines as the server's log does: two spaces behind the name, a tab before each
// further line of a text. Empty texts are left out, but for the first. What is over the limit, in
// bytes, is cut from the last line on.
func logText(lines []line, limit int) string {
	var parts []string
	size := 0
	for i, l := range lines {
		if l.text == "" && i > 0 {
			continue
		}
		text := validText(l.text)
		text = text[:min(len(text), limit+1)] // one too many, so that it is cut below and shows it
		part := validText(l.name) + ":  " + strings.ReplaceAll(text, "\n", "\n\t")
		parts = append(parts, part)
		size += len(part) + len("\n")
	}
	size -= len("\n")
	for i := len(parts) - 1; i >= 0 && size > limit; i-- {
		keep := max(len(parts[i])-(size-limit), strings.Index(parts[i], ":  ")+len(":  ")+len(cutMark))
		cut := cutText(parts[i], keep)
		size -= len(parts[i]) - len(cut)
		parts[i] = cut
	}
	return cutText(strings.Join(parts, "\n"), limit)
}
