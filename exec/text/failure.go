package text

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/fault"
)

// Failure is why a task failed, as its row shows it.
type Failure struct {
	Text     string // as the server's log writes an error
	SQLState string
	Detail   string // the server's, if it is short; Text has it, too

	routine string // of the server's error: what has raised it
}

// QueueIsFull tells the server's error at COMMIT when its queue of notifications has no room for
// those of the transaction.
func (f *Failure) QueueIsFull() bool {
	return f.SQLState == fault.QueueFullCode && f.routine == fault.QueueFullRoutine
}

// Raised tells an error that PL/pgSQL has raised by RAISE, with whatever code it liked.
func (f *Failure) Raised() bool { return f.routine == "exec_stmt_raise" }

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// NewFailure makes a failure of our own. What more there is to say are pairs of a name, such as
// HINT or STATEMENT, and its text.
func NewFailure(message, code string, more ...string) *Failure {
	lines := []line{{"ERROR", message}}
	for ; len(more) > 1; more = more[2:] {
		lines = append(lines, line{more[0], more[1]})
	}
	return &Failure{Text: logText(lines, Limit), SQLState: sqlstate(code)}
}

// ServerFailure is an error of the server's, with the statement that met it; nil where there is none.
func ServerFailure(e *pgproto3.ErrorResponse, statement string) *Failure {
	if e == nil {
		return nil
	}
	f := &Failure{Text: errorText(e, statement), SQLState: sqlstate(e.Code), routine: e.Routine}
	if len(e.Detail) <= detailMost {
		f.Detail = e.Detail
	}
	return f
}

// errorText writes an error of the server's, with the statement that met it, as the server's log
// does.
func errorText(e *pgproto3.ErrorResponse, statement string) string {
	return logText(append(errorLines(e), line{"CONTEXT", e.Where}, line{"STATEMENT", statement}), Limit)
}

// detailMost bounds Failure.Detail, in bytes.
const detailMost = 100

// sqlstate is a code as rows hold it, whatever the server has sent.
func sqlstate(code string) string {
	const violation = "08P01" // protocol_violation
	if len(code) != 5 {
		return violation
	}
	for _, c := range []byte(code) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return violation
		}
	}
	return code
}
