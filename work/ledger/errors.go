package ledger

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
)

// ErrKept is why a row has not taken what was written: a trigger of the table has kept it as it was.
var ErrKept = errors.New("a trigger of the table keeps the row as it is")

// classOf tells what an error of the server's means for the rows of a round; ok is false when it ends
// the connection, or is a matter of the whole table.
func classOf(err error) (class Class, ok bool) {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Severity == "FATAL" || answer.Severity == "PANIC" {
		return Refuses, false
	}
	switch {
	case answer.Code == "55P03":
		return Blocked, true
	case answer.Code == "40001" || answer.Code == "40P01":
		return Conflicts, true
	case answer.Code == "57014" || answer.Code == "25006" || strings.HasPrefix(answer.Code, "53"): // 25006: the server was told to be read-only
		return Passing, true
	case answer.Code == fault.QueueFullCode && answer.Routine == fault.QueueFullRoutine: // a trigger of the table notifies
		return Passing, true
	case answer.Code == "0A000" && answer.Routine == "RevalidateCachedQuery": // a column has another type now
		return Passing, true
	}
	return Refuses, true
}
