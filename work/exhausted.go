package work

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// A sequence that has no more ids, or a partition that is missing, is the table's trouble, and no
// task's: nothing ends without what follows on it. Ends wait.

// exhaustedMost is the longest wait before the next try to write an end that lacks one of these.
const exhaustedMost = 30 * time.Second

// isLack tells that the table has no id, or no partition, for what follows on an end.
func isLack(err error) bool {
	var answer *pgconn.PgError
	var lack *lackError
	return errors.As(err, &lack) || errors.As(err, &answer) && answer.Code == "2200H" && answer.Where == ""
}

// lackError is the error of what follows on an end, and has no partition. (A row that would move to
// one that is missing is that task's own trouble.)
type lackError struct{ error }

func (e *lackError) Unwrap() error { return e.error }

// isPartless tells the server's own error of a partition that is missing.
func isPartless(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == exec.NoPartitionCode && answer.Routine == exec.NoPartitionRoutine && answer.Where == ""
}

// lacking says so from time to time, with the words of the server, which name the sequence, or the
// table.
func (l *loop) lacking(err error) {
	if isPartless(err) {
		l.trouble.hourly(l.log.Error(), "partition").Err(err).
			Str("hint", "make the partition that is missing, and the next ones ahead of time; or have one that is DEFAULT").
			Msg("the table has no partition for what follows on tasks: their ends wait")
		return
	}
	l.trouble.hourly(l.log.Error(), "ids").Err(err).
		Str("hint", "set the sequence back by setval or ALTER SEQUENCE … RESTART, to above the greatest id, or raise its MAXVALUE").
		Msg("no ids are left for repetitions: ends of tasks wait")
}
