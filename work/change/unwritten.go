package change

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
)

// Unwritten says why the table has refused what was to be written for a task; nil: it has not.
func Unwritten(err error) *text.Failure {
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &answer):
		return text.NewFailure(unwrittenEnd+err.Error(), "55000")
	case answer.Code == fault.Kept:
		return text.NewFailure(unwrittenEnd+answer.Message, "55000")
	case answer.Code == fault.LeftOut:
		return text.NewFailure("the repetition of the task was left out", "55000", "DETAIL", "A trigger or policy of the table has left its row out.")
	}
	return text.NewFailure(unwrittenEnd+answer.Message, answer.Code, "DETAIL", answer.Detail, "HINT", answer.Hint,
		"CONTEXT", answer.Where)
}

// unwrittenEnd is how the error of an end begins that was refused.
const unwrittenEnd = "the end of the task could not be written: "
