package work

import (
	"time"

	"pgtaskd/exec/fault"
)

// A sequence that has no more ids, or a partition that is missing, is the table's trouble, and no
// task's: nothing ends without what follows on it. Ends wait.

// exhaustedMost is the longest wait before the next try to write an end that lacks one of these.
const exhaustedMost = 30 * time.Second

// lacking says so from time to time, with the words of the server, which name the sequence, or the
// table.
func (l *loop) lacking(err error) {
	if fault.Of(err) == fault.NoPartition {
		l.log.Hourly(l.log.Error(), "partition").Err(err).
			Str("hint", "make the partition that is missing, and the next ones ahead of time; or have one that is DEFAULT").
			Msg("the table has no partition for what follows on tasks: their ends wait")
		return
	}
	l.log.Hourly(l.log.Error(), "ids").Err(err).
		Str("hint", "set the sequence back by setval or ALTER SEQUENCE … RESTART, to above the greatest id, or raise its MAXVALUE").
		Msg("no ids are left for repetitions: ends of tasks wait")
}
