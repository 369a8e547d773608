package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// bisect changes rows together. Where the table refuses that, it changes each half of them, so that
// one odd row holds up no other; refused sees to a row that is refused alone. done, which may be
// nil, follows on what was changed. It goes through the rows in their order, and ends with the
// first error that is no refusal.
func bisect[T any](ctx context.Context, l *loop, rows []T,
	change func(context.Context, []T) error, done func([]T) error, refused func(T, error) error,
) error {
	err := change(ctx, rows)
	switch {
	case err == nil && done != nil:
		return done(rows)
	case err == nil || !refusedByServer(err):
		return err
	case l.trust(ctx, err):
		return bisect(ctx, l, rows, change, done, refused)
	case len(rows) == 1:
		return refused(rows[0], err)
	}
	half := len(rows) / 2
	if err := bisect(ctx, l, rows[:half], change, done, refused); err != nil {
		return err
	}
	return bisect(ctx, l, rows[half:], change, done, refused)
}

// each does something to rows with these ids. One that refuses it is left as it is, for a while.
func (l *loop) each(ctx context.Context, ids []int64, do func(context.Context, []int64) error) error {
	return bisect(ctx, l, ids, func(ctx context.Context, ids []int64) error {
		bounded, cancel := limited(ctx)
		defer cancel()
		err := do(bounded, ids)
		if answer := new(pgconn.PgError); refusedByServer(err) && errors.As(err, &answer) && passing(answer) {
			return nil // it is tried again
		}
		return err
	}, nil, func(id int64, err error) error {
		if answer := new(pgconn.PgError); errors.As(err, &answer) && isKeyTaken(answer) {
			_, err := l.supersede(ctx, id, 0, 0, nil)
			return err // if the other waits no more, it is tried again
		}
		l.log.Error().Err(err).Int64("id", id).Msg("table refuses a change of a task; row left unchanged")
		l.hopeless[id] = time.Now()
		return nil
	})
}

// eachWithWords is each, for what writes words of ours into the rows: one that refuses them is
// changed without.
func (l *loop) eachWithWords(ctx context.Context, ids []int64, do func(ctx context.Context, ids []int64, mute bool) error) error {
	return l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		err := do(ctx, ids, false)
		if answer := new(pgconn.PgError); len(ids) == 1 && refusedByServer(err) && errors.As(err, &answer) && !passing(answer) && !isKeyTaken(answer) {
			return do(ctx, ids, true)
		}
		return err
	})
}
