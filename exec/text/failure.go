package text

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/fault"
)

// Failure is the error of a task, as its row shows it.
type Failure struct {
	Text     string // in the form of the server's log
	SQLState string
	Detail   string // the server's DETAIL, if it is short; also part of Text

	routine string // routine of the server that raised the error
}

// QueueIsFull tells whether COMMIT failed because the server's queue of notifications has no room
// for those of the transaction.
func (f *Failure) QueueIsFull() bool {
	return f.SQLState == fault.QueueFullCode && f.routine == fault.QueueFullRoutine
}

// Raised tells whether a RAISE of PL/pgSQL has made the error; that error can have any code.
func (f *Failure) Raised() bool { return f.routine == "exec_stmt_raise" }

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// NewFailure makes a failure of our own. more are pairs of a name (for example HINT or STATEMENT)
// and a text.
func NewFailure(message, code string, more ...string) *Failure {
	lines := []line{{"ERROR", message}}
	for ; len(more) > 1; more = more[2:] {
		lines = append(lines, line{more[0], more[1]})
	}
	return &Failure{Text: logText(lines, Limit), SQLState: sqlstate(code)}
}

// ServerFailure makes a failure from a server's error and the statement; nil if there is no error.
func ServerFailure(e *pgproto3.ErrorResponse, statement string) *Failure {
	if e == nil {
		return nil
	}
	lines := append(errorLines(e), line{"CONTEXT", e.Where}, line{"STATEMENT", statement})
	f := &Failure{Text: logText(lines, Limit), SQLState: sqlstate(e.Code), routine: e.Routine}
	if len(e.Detail) <= detailMost {
		f.Detail = e.Detail
	}
	return f
}

// detailMost is the maximum length of Failure.Detail, in bytes.
const detailMost = 100

// sqlstate returns the code if it is a valid SQLSTATE, else the code of a protocol violation.
func sqlstate(code string) string {
	const violation = "08P01" // protocol_violation
	strange := func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') }
	if len(code) != 5 || strings.ContainsFunc(code, strange) {
		return violation
	}
	return code
}

// errorLines returns the lines that errors and notices share.
func errorLines(e *pgproto3.ErrorResponse) []line {
	severity := cmp.Or(e.SeverityUnlocalized, e.Severity) // a server that is not PostgreSQL may send only one
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

// isSeverity tells whether a text can be a severity, in any language.
func isSeverity(text string) bool {
	const longest = 40
	return text != "" && len(text) <= longest && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

func position(e *pgproto3.ErrorResponse) string {
	if at := cmp.Or(max(e.Position, 0), e.InternalPosition); at > 0 {
		return fmt.Sprintf(" at character %d", at)
	}
	return ""
}

// line is one field of an error. The first line of an error has its severity and message.
type line struct{ name, text string }

// logText writes lines like the server's log: two spaces after the name, a tab before each further
// line of a text. It leaves out empty texts, except the first. If the result is longer than limit
// bytes, it shortens the last lines first.
func logText(lines []line, limit int) string {
	var parts []string
	size := 0
	for i, l := range lines {
		if l.text == "" && i > 0 {
			continue
		}
		text := validText(l.text)
		text = text[:min(len(text), limit+1)] // one byte too many, so that the code below cuts it and adds the mark
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
