package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/human"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
)

// Problems that a person has to solve are logged here, once in a while.

const (
	lockedTold  = 500 * time.Millisecond // a lock is logged if it lasts this long
	lockedAgain = time.Minute            // time between two such lines
)

// TellOfLock logs, once in a while, who may hold the lock that a task's row waits for.
func (c *Changer) TellOfLock(ctx context.Context, since time.Time, id int64, key *string) error {
	if time.Since(since) < lockedTold || !c.Log.Once("lock", lockedAgain) {
		return nil
	}
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	writers, err := lock.Holders(ctx, c.Control.Conn(), c.Table, true)
	if err != nil && !fault.Of(err).OfRow() {
		return err
	}
	line := c.Log.Warn().Int64("id", id)
	if key != nil {
		line = line.Str("key", *key)
	}
	if len(writers) > 0 {
		line = line.Strs("open", writers)
	}
	line.Msg("an open transaction keeps a task's row from being changed; trying again")
	return nil
}

// paused are jobs that max_failures has paused: their tasks that wait, their keys in the database's
// encoding (nil: NULL), and how often they have failed.
type paused struct {
	ids, failures []int64
	keys          [][]byte
}

// tellPaused logs the jobs that a transaction has paused, if it is committed.
func (c *Changer) tellPaused(committed bool) {
	for i, id := range c.paused.ids {
		if !committed {
			break
		}
		line := c.Log.Warn().Int64("id", id)
		if key := c.paused.keys[i]; key != nil {
			line = line.Str("key", human.Legible(string(key)))
		}
		line.Int64("failures", c.paused.failures[i]).
			Str("hint", fmt.Sprintf("mend it; then pgtaskd act resume %d, or UPDATE … SET state = 'PLAN' WHERE id = %[1]d, lets it go on", id)).
			Msg("max_failures pauses a job: it has failed too often in a row")
	}
	c.paused = paused{}
}

// tellLack logs from time to time that the sequence has no more ids, or that a partition is
// missing: the server's error names it. Ends that something follows wait until a person mends that.
func (c *Changer) tellLack(class fault.Class, err error) {
	if class == fault.NoPartition {
		c.Log.Hourly(c.Log.Error(), "partition").Err(err).
			Str("hint", "make the partition that is missing, and the next ones ahead of time; or have one that is DEFAULT").
			Msg("the table has no partition for what follows on tasks: their ends wait")
		return
	}
	c.Log.Hourly(c.Log.Error(), "ids").Err(err).
		Str("hint", "set the sequence back by setval or ALTER SEQUENCE … RESTART, to above the greatest id, or raise its MAXVALUE").
		Msg("no ids are left for repetitions: ends of tasks wait")
}

// TellQueueFull logs from time to time that the server's queue of notifications is full. One stays
// there until every session that listens, in any database, has read it. If that session stays in a
// transaction, all transactions that notify fail at COMMIT: their tasks' ends wait.
func (c *Changer) TellQueueFull(words string) {
	c.Log.Hourly(c.Log.Error(), "queue").Str("error", words).Str("hint", "a session that listens has been in a transaction for long: the server's log names it, "+
		"in the DETAIL of a WARNING that the NOTIFY queue is full; or see SELECT * FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' ORDER BY xact_start, in all databases").
		Msg("the server's queue of notifications is full: ends of tasks that notify somebody wait")
}

// Stays logs that the row of an ended task cannot be deleted, for example because a user's foreign
// key refers to it. Rows with the same cause share one line an hour.
func (c *Changer) Stays(why error, id int64) {
	what := why.Error()
	if answer := new(pgconn.PgError); errors.As(why, &answer) {
		what = answer.Code + " " + answer.TableName + " " + answer.ConstraintName + " " + answer.Routine
	}
	c.Log.Hourly(c.Log.Warn(), what).Err(why).Int64("id", id).Msg("a task that has ended can't be deleted: its row stays, as do others that meet this")
}

// unwrittenEnd begins the error of a task whose end was refused.
const unwrittenEnd = "the end of the task could not be written: "

// Unwritten returns why the table has refused a task's end; nil: err is not a server's error.
func Unwritten(err error) *text.Failure {
	var answer *pgconn.PgError
	switch {
	case !errors.As(err, &answer):
		return nil
	case answer.Code == fault.Kept:
		return text.NewFailure(unwrittenEnd+answer.Message, "55000")
	case answer.Code == fault.LeftOut:
		return text.NewFailure("the repetition of the task was left out", "55000", "DETAIL", "A trigger or policy of the table has left its row out.")
	}
	return text.NewFailure(unwrittenEnd+answer.Message, answer.Code, "DETAIL", answer.Detail, "HINT", answer.Hint,
		"CONTEXT", answer.Where)
}
