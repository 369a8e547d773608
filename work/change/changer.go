package change

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/target"
)

// Config has everything that a Changer needs.
type Config struct {
	Control *control.Control
	Holds   *hold.Holds
	Log     *target.Log
	Table   sql.Table
	Ours    inflight.Tasks      // tasks of ours are not held
	Ended   func(all []Changed) // rooms call it with tasks that have ended without a run of ours
}

// Rows is what rooms need that handle the rows of our tasks.
type Rows struct {
	Control *control.Control
	Changes *Changer
	Holds   *hold.Holds
	Tries   *hold.Tries
	Tasks   inflight.Tasks
	Log     *target.Log
}

// Changer changes rows.
type Changer struct {
	Config
	sizer  hold.Sizer // for EachWithWords
	wanted bool       // a task may have become due since the last look began
	paused paused     //  jobs that max_failures pauses in the transaction under way

	// FollowLimit is the time limit for what follows on tasks, as nothing starts meanwhile.
	FollowLimit time.Duration
}

const followLimit = 5 * time.Second

// Want makes the next round look for due tasks.
func (c *Changer) Want() { c.wanted = true }

// Wants reports whether a look is wanted.
func (c *Changer) Wants() bool { return c.wanted }

// Looks records that a look begins, or that none is wanted any more.
func (c *Changer) Looks() { c.wanted = false }

// New returns a Changer.
func New(c Config) *Changer { return &Changer{Config: c, FollowLimit: followLimit} }

// briefly begins a change that may meet somebody's lock: on an uncommitted key, or on a row that a
// trigger of the table changes. A row that met a lock is tried again alone, after a pause that
// grows; no other row waits for it.
const briefly = "BEGIN; SET LOCAL lock_timeout = '20ms'"

// Brief runs a transaction that waits only briefly for locks. Every change that may notify or draw
// an id uses it: it logs a full queue, missing ids and missing partitions.
func (c *Changer) Brief(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := pgx.BeginTxFunc(ctx, c.Control.Conn(), pgx.TxOptions{BeginQuery: briefly}, func(tx pgx.Tx) error { return do(ctx, tx) })
	c.tellPaused(err == nil)
	switch class := fault.Of(err); {
	case class == fault.QueueFull:
		c.TellQueueFull(err.Error())
	case class.Lacks():
		c.tellLack(class, err)
	}
	return err
}

// Changed is a task whose state a statement has changed.
type Changed struct {
	ID                          int64
	Follows, Repeats            bool // something follows on its end; the task repeats itself
	State                       string
	Group, Key, SQLState, Error []byte // in the database's encoding; nil: NULL
	Empty                       bool   // it has nothing to show, and should be deleted
}

// Repeating counts the tasks that repeat themselves.
func Repeating(all []Changed) (n int) {
	for _, t := range all {
		if t.Repeats {
			n++
		}
	}
	return n
}

// Tasks runs WithWhatFollows in a transaction of its own that waits only briefly for locks.
func (c *Changer) Tasks(ctx context.Context, query string, args ...any) (all []Changed, err error) {
	err = c.Brief(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		all, err = c.WithWhatFollows(ctx, tx, true, query, args...)
		return err
	})
	return all, err
}

// WithWhatFollows runs a query that ends tasks and returns them, and then writes what follows:
// repetitions, on_fail, notify. first: the caller may try again.
func (c *Changer) WithWhatFollows(ctx context.Context, tx pgx.Tx, first bool, query string, args ...any) (all []Changed, err error) {
	rows, err := tx.Query(ctx, c.Control.Queries().Text(query), args...)
	if err != nil {
		return nil, err
	}
	var t Changed
	var id *int64
	var followed []int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &t.Follows, &t.Repeats, &t.State, &t.Group, &t.Key, &t.SQLState, &t.Error, &t.Empty}, func() error {
		if id == nil {
			return fault.ErrKept
		}
		t.ID = *id
		all = append(all, t)
		if t.Follows {
			followed = append(followed, t.ID)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(followed) == 1 {
		return all, c.repeatOrSay(ctx, tx, followed[0], first)
	}
	return all, c.Repeat(ctx, tx, followed)
}

// repeatOrSay writes the repetition of a task that has ended. If the table refuses it, its row says
// why, and the end stands. mayWait: if that is too slow, the end may be tried again.
func (c *Changer) repeatOrSay(ctx context.Context, tx pgx.Tx, id int64, mayWait bool) error {
	again := func(tx pgx.Tx) error { return c.Repeat(ctx, tx, []int64{id}) }
	err := pgx.BeginFunc(ctx, tx, again)
	if fault.Has(err, "23505") { // the repetition may have drawn an id that was committed meanwhile
		err = pgx.BeginFunc(ctx, tx, again)
	}
	if !fault.Of(err).OfRow() || fault.Of(err).Passing() ||
		mayWait && fault.Of(err) == fault.Slow && !c.Holds.HasRefused(id) {
		return err
	}
	c.Log.Error().Err(err).Int64("id", id).
		Str("hint", "fix what refuses it, and insert the task again").
		Msg("the table refuses the repetition of a task; its series has ended")
	why := Unwritten(err)
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, c.Control.Queries().Text("unrepeated"), id, why.Text, why.SQLState)
		return err
	})
	if fault.Of(err).OfRow() && !fault.Of(err).Passing() {
		return nil // the row takes no words: the log has them
	}
	return err
}

// Repeat writes what follows on the ends of tasks.
func (c *Changer) Repeat(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	c.Want()
	slices.Sort(ids) // in a partitioned table several ended rows may have the same id
	batch := &pgx.Batch{}
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", control.Milliseconds(c.FollowLimit))
	var drawn, waits, whole bool
	var jobs paused
	batch.Queue(c.Control.Queries().Text("repeat"), slices.Compact(ids)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&drawn, &waits, &whole, nil, &jobs.ids, &jobs.keys, &jobs.failures)
	})
	began := time.Now()
	err := tx.SendBatch(ctx, batch).Close()
	if fault.Has(err, "57014") && time.Since(began) >= c.FollowLimit {
		return fault.As(fault.Slow, err)
	}
	if fault.IsPartless(err) {
		return fault.As(fault.NoPartition, err)
	}
	switch {
	case err != nil:
	case !drawn:
		return fault.ErrIDsTaken
	case !waits:
		return fault.ErrKeyWaits
	case !whole:
		return fault.ErrLeftOut
	default:
		c.paused = jobs
	}
	return err
}

// Bisect changes rows together. If the table refuses that, it changes fewer at a time, in order, so
// that one odd row delays no other. refused handles a row that is refused alone. Bisect stops at
// the first error that is not a refusal.
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

// Each changes rows. If a row refuses that, it stays as it is for a while.
func (c *Changer) Each(ids []int64, do func([]int64) error) error {
	return Bisect(ids, do, func(id int64, err error) error {
		class := fault.Of(err)
		if class.Passing() && !class.Lacks() {
			return nil // tried again later
		}
		if c.Holds.PutAfter(id, hold.Refuses, 0); !class.Lacks() {
			c.Log.Error().Err(err).Int64("id", id).Msg("table refuses a change of a task; row left unchanged")
		}
		return nil
	})
}

// EachWithWords is Each for changes that write texts of ours into the rows. If a row refuses the
// texts, do is called without them (true). If another transaction is in the way, the task is held.
// left has the ids that the duty had no time for.
func (c *Changer) EachWithWords(ctx context.Context, ids []int64, do func([]int64, bool) error) (left []int64, err error) {
	s, began := &c.sizer, time.Now()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		until := c.Holds.Until(id)
		return !until.IsZero() && (s.Rests() || c.Holds.Waits(id))
	})
	slices.SortStableFunc(ids, func(a, b int64) int { // so that each gets its turn
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

// withWords changes rows together. If a row that is alone refuses the texts, it is changed without.
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

// PutOff makes tasks wait, longer each time, because somebody has locked or changed their rows. It
// skips our own tasks, and tasks that have refused a change recently.
func (c *Changer) PutOff(ids ...int64) {
	for _, id := range ids {
		if !c.Ours.Has(id) && !c.Holds.Refuses(id) {
			c.Holds.Put(id, hold.Missing)
		}
	}
}

// PutOffOthers puts off the tasks that were tried but not changed.
func (c *Changer) PutOffOthers(tried []int64, changed []Changed) {
	for _, id := range tried {
		if !slices.ContainsFunc(changed, func(one Changed) bool { return one.ID == id }) {
			c.PutOff(id)
		}
	}
}
