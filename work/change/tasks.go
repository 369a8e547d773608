package change

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
)

// Changed is a task whose state a statement has changed.
type Changed struct {
	ID                          int64
	Follows, Repeats            bool // something follows on its end; it repeats itself
	State                       string
	Group, Key, SQLState, Error []byte // as the database has them; nil: NULL
	Empty                       bool   // it has nothing to show, and is to be deleted
}

// Repeating is how many of them repeat themselves.
func Repeating(all []Changed) (n int) {
	for _, t := range all {
		if t.Repeats {
			n++
		}
	}
	return n
}

// Tasks runs WithWhatFollows in a transaction of its own, which waits for locks briefly.
func (c *Changer) Tasks(ctx context.Context, query string, args ...any) (all []Changed, err error) {
	err = c.Brief(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		all, err = c.WithWhatFollows(ctx, tx, true, query, args...)
		return err
	})
	return all, err
}

// WithWhatFollows runs a query that ends tasks and returns them, and writes what follows: repetitions,
// on_fail, notify. first: it is tried again where that may help.
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

// repeatOrSay creates the repetition of a task that has ended, or says in its row why the table does
// not take that: the end stands all the same. It may wait where that is slow for once.
func (c *Changer) repeatOrSay(ctx context.Context, tx pgx.Tx, id int64, mayWait bool) error {
	again := func(tx pgx.Tx) error { return c.Repeat(ctx, tx, []int64{id}) }
	err := pgx.BeginFunc(ctx, tx, again)
	if fault.Has(err, "23505") { // it may have met an id that was committed meanwhile
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
		return nil // it takes no words: the log has them
	}
	return err
}

// Repeat writes the repetitions of tasks.
func (c *Changer) Repeat(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	c.Planned()
	slices.Sort(ids) // in a partitioned table several rows with one id may have ended
	batch := &pgx.Batch{}
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", control.Milliseconds(c.FollowLimit))
	var drawn, waits, whole bool
	batch.Queue(c.Control.Queries().Text("repeat"), slices.Compact(ids)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&drawn, &waits, &whole, nil)
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
	}
	return err
}
