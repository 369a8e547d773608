package exec

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TextLimit bounds the text of an error, and of all notices of a run, in bytes.
const TextLimit = 64 << 10

// detailMost bounds Failure.Detail, in bytes.
const detailMost = 100

// cutMark stands where a text has been cut.
const cutMark = "…"

// Failure is why a task failed, as its row shows it.
type Failure struct {
	Text     string // as the server's log writes an error
	SQLState string
	Detail   string // the server's, if it is short; Text has it, too

	routine, where string // of the server's error: what has raised it, and in which function or the like
	constraint     string
	follows        bool // of the statement that writes what follows on a task
	gone           bool // of the function that asks for the token: the table of tokens is not there
}

// Indirect tells an error that a trigger, a constraint or other SQL behind a statement is the cause
// of.
func (f *Failure) Indirect() bool { return f.where != "" }

// Direct tells an error that a routine of the server's has raised for a statement itself from one
// with the same code that a trigger, a constraint or other SQL behind the statement is the cause
// of.
func (f *Failure) Direct(sqlstate, routine string) bool {
	return f.SQLState == sqlstate && f.routine == routine && f.where == ""
}

// Missed tells the error by which a tail says that the task is no longer ours: an int2 divided by
// an int4 that is zero, which other SQL hardly does.
func (f *Failure) Missed() bool { return f.Direct("22012", "int24div") }

// GivenAway tells the error by which a tail says that the table has come to belong to somebody else.
func (f *Failure) GivenAway() bool { return f.Direct("22012", "int82div") }

// KeyWaits tells the error by which a tail says that another task has come to wait with the key of
// the repetition.
func (f *Failure) KeyWaits() bool { return f.Direct("22012", "int28div") }

// LeftOut tells the error by which a tail says that the repetition has not come about: an amount of
// money divided by an int2.
func (f *Failure) LeftOut() bool {
	return strings.HasPrefix(f.routine, "cash_div_int") && f.Direct("22012", f.routine)
}

// Taken is an index in which a row of ours has met one of another transaction's, or would.
type Taken struct {
	Constraint string // its name, if the other one is committed
	Where      string // a text with its name, if we have waited for the other one in vain
	Many       bool   // so many ids that come next are taken that none was drawn
}

// ManyTaken is the routine by whose error a draw says so: an interval divided by a number.
const ManyTaken = "interval_div"

// Taken says what the error tells of such an index; nil: nothing.
func (f *Failure) Taken() *Taken {
	if f == nil {
		return nil
	}
	return TakenOf(f.SQLState, f.routine, f.where, f.constraint)
}

// TakenOf is the same of any error of the server's.
func TakenOf(code, routine, where, constraint string) *Taken {
	switch {
	case code == "23505" && where == "" && constraint != "":
		return &Taken{Constraint: constraint}
	case code == "55P03" && routine == "ProcessInterrupts":
		first, _, _ := strings.Cut(where, "\n")
		return &Taken{Where: first}
	case code == "22012" && routine == ManyTaken && where == "":
		return &Taken{Many: true}
	}
	return nil
}

// Exhausted tells the error by which a tail says that a sequence has no more numbers, which only a
// repetition takes.
func (f *Failure) Exhausted() bool { return f.SQLState == exhausted && f.where == "" }

// NoPartition tells the error by which a tail says that the table has no partition for what follows
// on the task.
func (f *Failure) NoPartition() bool {
	return f.follows && f.Direct(NoPartitionCode, NoPartitionRoutine)
}

// NoPartitionCode is its SQLSTATE, and NoPartitionRoutine what raises it.
const (
	NoPartitionCode    = "23514"
	NoPartitionRoutine = "ExecFindPartition"
)

// QueueIsFull tells the server's error at COMMIT when its queue of notifications has no room for
// those of the transaction.
func (f *Failure) QueueIsFull() bool { return f.Direct(QueueFullCode, QueueFullRoutine) }

// QueueFullCode is its SQLSTATE, and QueueFullRoutine what raises it.
const (
	QueueFullCode    = "54000"
	QueueFullRoutine = "PreCommit_Notify"
)

// exhausted is the code of a sequence that has reached its end.
const exhausted = "2200H"

// Raised tells an error that PL/pgSQL has raised by RAISE, with whatever code it liked.
func (f *Failure) Raised() bool { return f.routine == "exec_stmt_raise" }

// Tokenless tells the error by which the function that writes ends in sessions of other roles says
// that it does not know the session's token, or that the table of tokens has just been dropped.
func (f *Failure) Tokenless() bool {
	return f != nil && (f.gone || f.SQLState == "42501" && f.constraint == "pgtaskd_token" && f.Raised())
}

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// NewFailure makes a failure of our own. What more there is to say are pairs of a name, such as
// HINT or STATEMENT, and its text.
func NewFailure(message, code string, more ...string) *Failure {
	lines := []line{{"ERROR", message}}
	for ; len(more) > 1; more = more[2:] {
		lines = append(lines, line{more[0], more[1]})
	}
	return &Failure{Text: logText(lines, TextLimit), SQLState: sqlstate(code)}
}

// endFailure is an error of the server's by which it refuses a statement of ours that writes the
// end of a task, or what follows on it: its input is not to blame.
func endFailure(e *pgproto3.ErrorResponse, follows bool) *Failure {
	f := NewFailure("the end of the task could not be written: "+e.Message, e.Code, "DETAIL", e.Detail, "HINT",
		e.Hint, "QUERY", e.InternalQuery, "CONTEXT", e.Where)
	f.routine, f.where, f.constraint, f.follows = e.Routine, e.Where, e.ConstraintName, follows
	// The server shows a query of the function by itself, and a LOCK TABLE of it in the context.
	f.gone = e.Code == "42P01" && strings.Contains(e.Where, "pgtaskd_end_") && strings.Contains(e.InternalQuery+e.Where, "pgtaskd_token_")
	return f
}

// commitFailure is an error that came with COMMIT. Where the end of the task may have left
// something to that, as its SQL may have, neither is blamed.
func commitFailure(e *pgproto3.ErrorResponse, tail *Tail) *Failure {
	f := serverFailure(e, tail.Input)
	if len(tail.Calls) > 0 && tail.Defers {
		const either = "Something was checked at COMMIT that the task's SQL or the write of its end had deferred."
		f.Text = NewFailure("the task could not be committed: "+e.Message, e.Code,
			"DETAIL", strings.TrimPrefix(e.Detail+"\n"+either, "\n"), "HINT", e.Hint, "QUERY", e.InternalQuery, "CONTEXT", e.Where).Text
	}
	return f
}

// ErrorText writes an error of the server's, with the statement that met it, as the server's log
// does.
func ErrorText(e *pgproto3.ErrorResponse, statement string) string {
	return logText(append(errorLines(e), line{"CONTEXT", e.Where}, line{"STATEMENT", statement}), TextLimit)
}

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

// Literal writes any text as a string constant that means the same whatever
// standard_conforming_strings says. What no text can hold, NUL and invalid UTF-8, is left out or
// replaced.
func Literal(s string) string {
	s = quotable(s)
	s = strings.ReplaceAll(s, "'", "''")
	if !strings.Contains(s, `\`) {
		return "'" + s + "'"
	}
	// The space keeps the E from becoming part of a word before it.
	return " E'" + strings.ReplaceAll(s, `\`, `\\`) + "'"
}

func quotable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", "")
}
