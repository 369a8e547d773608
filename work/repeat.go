package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
)

// changeTasks runs such a query in a transaction of its own, which waits for locks briefly.
func (l *loop) changeTasks(ctx context.Context, query string, args ...any) (all []changed, err error) {
	err = l.brief(ctx, func(tx pgx.Tx) (err error) {
		all, err = l.withWhatFollows(ctx, tx, true, l.queries().Text(query), args...)
		return err
	})
	return all, err
}

// withWhatFollows runs a query that ends tasks and returns them, and sees to what follows:
// repetitions, on_fail, notify. first tells that it is tried again where that may help.
func (l *loop) withWhatFollows(ctx context.Context, tx pgx.Tx, first bool, query string, args ...any) (all []changed, err error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var c changed
	var id *int64
	var followed []int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &c.follows, &c.repeats, &c.state, &c.group, &c.key, &c.sqlstate, &c.error, &c.empty}, func() error {
		if id == nil {
			return fault.ErrKept
		}
		c.id = *id
		all = append(all, c)
		if c.follows {
			followed = append(followed, c.id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(followed) == 1 {
		return all, l.repeatOrSay(ctx, tx, followed[0], first)
	}
	return all, l.repeat(ctx, tx, followed)
}

// repeatOrSay creates the repetition of a task that has ended, or says in its row why the table does
// not take that: the end stands all the same. It may wait where that is slow for once.
func (l *loop) repeatOrSay(ctx context.Context, tx pgx.Tx, id int64, mayWait bool) error {
	again := func(tx pgx.Tx) error { return l.repeat(ctx, tx, []int64{id}) }
	err := pgx.BeginFunc(ctx, tx, again)
	if fault.Has(err, "23505") { // it may have met an id that was committed meanwhile
		err = pgx.BeginFunc(ctx, tx, again)
	}
	var answer *pgconn.PgError
	if !fault.Of(err).OfRow() || !errors.As(err, &answer) || fault.Of(err).Passing() ||
		mayWait && fault.Of(err) == fault.Slow && !l.parked[id].refuses {
		return err
	}
	l.log.Error().Err(err).Int64("id", id).
		Str("hint", "fix what refuses it, and insert the task again").
		Msg("the table refuses the repetition of a task; its series has ended")
	why := unwritten(err)
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, l.queries().Text("unrepeated"), id, why.Text, why.SQLState)
		return err
	})
	if fault.Of(err).OfRow() && !fault.Of(err).Passing() {
		return nil // it takes no words: the log has them
	}
	return err
}

// followLimit is how long what follows on tasks may take, as nothing starts meanwhile: their data
// may be large.
const followLimit = 5 * time.Second

func (l *loop) repeat(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	l.look.wanted = true
	slices.Sort(ids) // in a partitioned table several rows with one id may have ended
	batch := &pgx.Batch{}
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", control.Milliseconds(l.followsIn))
	var drawn, waits, whole bool
	batch.Queue(l.queries().Text("repeat"), slices.Compact(ids)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&drawn, &waits, &whole, nil)
	})
	began := time.Now()
	err := tx.SendBatch(ctx, batch).Close()
	if fault.Has(err, "57014") && time.Since(began) >= l.followsIn {
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

// repeating is how many of them repeat themselves.
func repeating(all []changed) (n int) {
	for _, c := range all {
		if c.repeats {
			n++
		}
	}
	return n
}
