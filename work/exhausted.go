package work

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// A sequence that has no more ids, or a partition that is missing, is the table's trouble, and no
// task's: ends wait. But a task may ask for a partition that nobody ever makes, as whoever inserts
// it says how often it repeats itself. So only some wait for one, without a place of run; the others
// end without what follows.

const (
	exhaustedMost = 20 * time.Second // the longest wait before the next try to write such an end
	partlessMost  = 1000             // how many may wait for a partition,
	partlessSize  = 16 << 20         // and bytes that they keep in memory
)

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
	failure := (*exec.Failure)(nil)
	partless := isPartless(err) || errors.As(err, &failure) && failure.SQLState == exec.NoPartitionCode
	switch {
	case partless && l.trouble.said.isNew("no partition"):
		l.log.Error().Err(err).
			Str("hint", "make the partition that is missing, and the next ones ahead of time; or have one that is DEFAULT").
			Msg("the table has no partition for what follows on tasks: their ends wait")
	case !partless && l.trouble.said.isNew("no ids"):
		l.log.Error().Err(err).
			Str("hint", "set the sequence back by setval or ALTER SEQUENCE … RESTART, to above the greatest id, or raise its MAXVALUE").
			Msg("no ids are left for repetitions: ends of tasks wait")
	}
}

// mayWait tells whether what has met the error waits until the table has what it lacks, where
// nothing of it is kept in memory.
func (l *loop) mayWait(err error) bool {
	return isLack(err) && (!isPartless(err) || len(l.hopeless)+len(l.parked) < l.partlessMost)
}

// waitsForLack has an end wait until the table has what it lacks; false when it is to be written
// without what follows.
func (l *loop) waitsForLack(e *end, err error) bool {
	l.lacking(err)
	if isPartless(err) && !e.lacks {
		n, size := 1, e.memory()
		for i := range l.aside.ends {
			if other := &l.aside.ends[i]; other.lacks {
				n, size = n+1, size+other.memory()
			}
		}
		if l.relieve(e); e.written != nil && l.draining.IsZero() || n > l.partlessMost || size > partlessSize {
			return false
		}
		e.lacks = true
	}
	l.waitLong(*e, exhaustedMost)
	return true
}

// waitLong puts an end off until what its write lacks may be there, for longer each time.
func (l *loop) waitLong(e end, most time.Duration) {
	l.relieve(&e)
	e.wait = min(max(2*e.wait, time.Second), most)
	e.after = time.Now().Add(e.wait)
	l.keep(e)
}
