package change

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Config is what a Changer works with.
type Config struct {
	Control *control.Control
	Holds   *hold.Holds
	Log     *target.Log
	Table   sql.Table
	Known   func(id int64) bool // a task of ours has the id, which is not held
	Planned func()              // called when a task was written that may be due
}

// Changer changes rows.
type Changer struct {
	Config
	sizer hold.Sizer // of changes without a run of ours

	// FollowLimit bounds what follows on tasks, as nothing starts meanwhile: their data may be large.
	FollowLimit time.Duration
}

const followLimit = 5 * time.Second

// New returns a Changer.
func New(c Config) *Changer { return &Changer{Config: c, FollowLimit: followLimit} }

// briefly begins a change that may meet what another transaction has locked: a key that somebody
// inserts and does not commit, a row that a trigger of the table's changes. A row that met a lock alone
// is tried again after a pause that grows; nothing else waits for it.
const briefly = "BEGIN; SET LOCAL lock_timeout = '20ms'"

// Brief runs a transaction that waits for locks briefly. A change that may notify somebody, or draw an
// id, runs in one: it logs where there is no room for that.
func (c *Changer) Brief(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := c.Control.Transaction(ctx, briefly, func(tx pgx.Tx) error { return do(ctx, tx) })
	switch class := fault.Of(err); {
	case class == fault.QueueFull:
		c.TellQueueFull(err.Error())
	case class.Lacks():
		c.tellLack(class, err)
	}
	return err
}

const (
	lockedTold  = 500 * time.Millisecond // a lock that lasts as long is logged
	lockedAgain = time.Minute            // until the next one is
)

// TellOfLock logs, once in a while, who may have locked what a change of a task's row waits for.
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

// tellLack logs from time to time that the sequence has no more ids, or that a partition is missing: the
// server's words name it. Ends wait for a person to mend it: none is written without what follows on it.
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

// TellQueueFull logs from time to time that the server's queue of notifications is full: in it they wait
// for each session that listens, in all databases. If one stays in a transaction, every transaction that
// notifies fails at COMMIT, through no fault of its task: the end waits.
func (c *Changer) TellQueueFull(words string) {
	c.Log.Hourly(c.Log.Error(), "queue").Str("error", words).Str("hint", "a session that listens has been in a transaction for long: the server's log names it, "+
		"in the DETAIL of a WARNING that the NOTIFY queue is full; or see SELECT * FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' ORDER BY xact_start, in all databases").
		Msg("the server's queue of notifications is full: ends of tasks that notify somebody wait")
}

// Stays logs that the row of a task that has ended can't be deleted, such as one that a foreign key of
// the user's refers to: from time to time for all that the same keeps.
func (c *Changer) Stays(why error, id int64) {
	what := why.Error()
	if answer := new(pgconn.PgError); errors.As(why, &answer) {
		what = answer.Code + " " + answer.TableName + " " + answer.ConstraintName + " " + answer.Routine
	}
	c.Log.Hourly(c.Log.Warn(), what).Err(why).Int64("id", id).Msg("a task that has ended can't be deleted: its row stays, as do others that meet this")
}

// Bisect changes rows together. If the table refuses that, it changes some at a time, in their order, so
// that one odd row holds up no other; refused sees to a row that is refused alone. The first error that
// is no refusal ends it.
func Bisect[T any](rows []T, change func([]T) error, refused func(T, error) error) error {
	err := change(rows)
	switch {
	case err == nil || !fault.Of(err).OfRow():
		return err
	case len(rows) == 1:
		return refused(rows[0], err)
	}
	for part := range slices.Chunk(rows, max(len(rows)/hold.Parts, 1)) {
		if err := Bisect(part, change, refused); err != nil {
			return err
		}
	}
	return nil
}

// Each does something to rows with these ids. A row that refuses it is left as it is, for a while.
func (c *Changer) Each(ids []int64, do func([]int64) error) error {
	return Bisect(ids, do, func(id int64, err error) error {
		class := fault.Of(err)
		if class.Passing() && !class.Lacks() {
			return nil // it is tried again
		}
		if c.Holds.PutAfter(id, hold.Refuses, 0); !class.Lacks() {
			c.Log.Error().Err(err).Int64("id", id).Msg("table refuses a change of a task; row left unchanged")
		}
		return nil
	})
}

// EachWithWords is Each for changes that write words of ours into the rows: a row that refuses them is
// changed without (true). If another transaction is in the way of one, it is held. left are those for
// which a duty has no time.
func (c *Changer) EachWithWords(ctx context.Context, ids []int64, do func([]int64, bool) error) (left []int64, err error) {
	s, began := &c.sizer, time.Now()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		until := c.Holds.Until(id)
		return !until.IsZero() && (s.Rests() || c.Holds.Waits(id))
	})
	slices.SortStableFunc(ids, func(a, b int64) int { // so that each has its turn
		return c.Holds.Until(a).Compare(c.Holds.Until(b))
	})
	for len(ids) > 0 && !s.Late(began) {
		some := ids[:s.Batch(len(ids))]
		if err := c.Each(some, func(ids []int64) error {
			if s.Late(began) {
				left = append(left, ids...)
				return nil
			}
			return c.withWords(ctx, ids, do)
		}); err != nil {
			return nil, err
		}
		ids = ids[len(some):]
	}
	return append(left, ids...), nil
}

// withWords changes rows together; one alone without words where it refuses them.
func (c *Changer) withWords(ctx context.Context, ids []int64, do func([]int64, bool) error) error {
	tried := time.Now()
	err := do(ids, false)
	class, alone := fault.Of(err), len(ids) == 1
	if alone && class.OfRow() && class != fault.Slow && !class.Passing() {
		err = do(ids, true)
		class = fault.Of(err)
	}
	if c.sizer.Took(len(ids), tried, class); alone && class.Passing() {
		c.PutOff(ids[0])
	}
	if alone && class == fault.Locked {
		return cmp.Or(c.TellOfLock(ctx, tried.Add(-c.Holds.Wait(ids[0])), ids[0], nil), err)
	}
	return err
}

// PutOff has tasks wait, longer each time, whose rows somebody has locked or changed. It leaves alone
// what is known, or has refused a change recently.
func (c *Changer) PutOff(ids ...int64) {
	for _, id := range ids {
		if !c.Known(id) && !c.Holds.Refuses(id) {
			c.Holds.Put(id, hold.Missing)
		}
	}
}

// PutOffOthers does so with those that were tried and are not among the changed.
func (c *Changer) PutOffOthers(tried []int64, changed []Changed) {
	for _, id := range tried {
		if !slices.ContainsFunc(changed, func(one Changed) bool { return one.ID == id }) {
			c.PutOff(id)
		}
	}
}

// unwrittenEnd is how the error of an end begins that was refused.
const unwrittenEnd = "the end of the task could not be written: "

// Unwritten says why the table has refused what was to be written for a task; nil: it has not.
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
