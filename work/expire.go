package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// expiring is a task whose active has passed since its plan.
type expiring struct {
	id     int64
	group  string // what tells it from others, as lane.KeyOf takes it
	active time.Duration
}

// expired are those of the tasks that no pause has held back. The limits of groups are read again
// first, since a task may be newer than those that are known; where that cannot be done now, the
// next look at all that is due finds the tasks again.
func (l *loop) expired(ctx context.Context, found []expiring) (ids []int64, err error) {
	if len(found) > 0 && l.control.table.Group != 0 {
		if err := l.readGroups(ctx); err != nil {
			return nil, err
		}
		if time.Since(l.grouping.failed) < groupsRetry {
			return nil, nil
		}
	}
	for _, t := range found {
		if !l.outlives(t.group, t.active) {
			ids = append(ids, t.id)
		}
	}
	return ids, nil
}

// expire gives up tasks that have not started in time.
func (l *loop) expire(ctx context.Context, ids []int64) error {
	for len(ids) > 0 {
		some := ids[:min(len(ids), batchMost)]
		ids = ids[len(some):]
		err := l.eachWithWords(ctx, some, func(ctx context.Context, some []int64, mute bool) error {
			var gone []changed
			err := pgx.BeginFunc(ctx, l.control.conn, func(tx pgx.Tx) (err error) {
				gone, err = l.withWhatFollows(ctx, tx, l.queries().Text("expire"), some, mute)
				return err
			})
			if err == nil {
				l.counted(gone)
				l.stats.skips(skippedExpired, repeating(gone))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withWhatFollows runs a query that ends tasks and returns them, and sees to what follows:
// repetitions, on_fail, notify.
func (l *loop) withWhatFollows(ctx context.Context, tx pgx.Tx, query string, args ...any) (all []changed, err error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var c changed
	var followed []int64
	if _, err := pgx.ForEachRow(rows, []any{&c.id, &c.follows, &c.repeats, &c.state, &c.group, &c.key, &c.sqlstate, &c.error}, func() error {
		all = append(all, c)
		if c.follows {
			followed = append(followed, c.id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(followed) == 1 {
		return all, l.repeatOrSay(ctx, tx, followed[0])
	}
	return all, l.repeat(ctx, tx, followed)
}

// repeatOrSay creates the repetition of a task that has ended without a run of ours, or says in its
// row why the table does not take that: the end stands all the same.
func (l *loop) repeatOrSay(ctx context.Context, tx pgx.Tx, id int64) error {
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return l.repeat(ctx, tx, []int64{id}) })
	var answer *pgconn.PgError
	if !refusedByServer(err) || !errors.As(err, &answer) || passing(answer) {
		return err
	}
	why := unwritten(err)
	_, err = tx.Exec(ctx, l.queries().Text("unrepeated"), id, why.Text)
	return err
}

func (l *loop) repeat(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	l.look.wanted = true
	_, err := tx.Exec(ctx, l.queries().Text("repeat"), ids)
	return err
}
