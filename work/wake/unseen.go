package wake

import (
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	unseenMost   = 10_000           // transactions that are known and not looked for yet
	unseenTick   = time.Millisecond // between two looks for what cannot be seen yet
	unseenSlower = 8                // the part of the time it has taken that it waits
	unseenRarest = 100 * time.Millisecond
)

// unseen are transactions that the log has told of, until a statement has seen them.
type unseen struct {
	ids   []int64
	since time.Time // the oldest
	next  time.Time // look
}

// add takes what has been decoded.
func (u *unseen) add(ids []int64) {
	if len(u.ids) == 0 {
		u.since = time.Now()
	}
	u.ids = append(u.ids, ids...)
}

// due tells whether to look for them now.
func (u *unseen) due(now time.Time) bool { return len(u.ids) > 0 && !now.Before(u.next) }

// ask adds to a batch the question which of them cannot be seen yet by what follows in it.
func (u *unseen) ask(batch *pgx.Batch, query string) {
	if len(u.ids) == 0 {
		return
	}
	batch.Queue(query, u.ids).Query(func(rows pgx.Rows) (err error) {
		u.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		u.next = time.Now().Add(min(max(time.Since(u.since)/unseenSlower, unseenTick), unseenRarest))
		return err
	})
}
