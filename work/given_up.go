package work

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// givenUp is why a successor is given up, and what it must still wait for then; nil: whatever it
// is.
type givenUp struct {
	why    string
	awaits *int64
}

// giveUp ends successors that are not to run, and adds those of which it is written to done.
func (l *loop) giveUp(ctx context.Context, given map[int64]givenUp, done map[int64]bool) error {
	ids := make([]int64, 0, len(given))
	for id := range given {
		ids = append(ids, id)
	}
	return l.eachWithWords(ctx, ids, func(ctx context.Context, ids []int64, mute bool) error {
		errors, awaits := make([]string, len(ids)), make([]*int64, len(ids))
		for i, id := range ids {
			errors[i], awaits[i] = given[id].why, given[id].awaits
		}
		var some []changed
		err := pgx.BeginFunc(ctx, l.control.conn, func(tx pgx.Tx) (err error) {
			some, err = l.withWhatFollows(ctx, tx, l.queries().Text("forsaken"), ids, errors, awaits, mute)
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range some {
			done[c.id] = true
		}
		l.counted(some)
		return nil
	})
}
