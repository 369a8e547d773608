package work

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
)

// What deleting old tasks takes at most, so that the other duties do not wait for it.
const (
	oldPages    = 16               // pages that one statement reads
	oldMost     = 100              // rows that one statement deletes
	oldFound    = 1000             // rows that are found before waiting tasks are looked at
	namesMost   = 1000             // waiting tasks that one statement looks at
	oldLimit    = time.Second      // the server ends what takes longer
	oldRest     = 10 * time.Second // between two walks, at least
	refusedMost = 100_000          // rows that are remembered
)

// keeping walks through the table, page by page, and deletes what is older than it is kept. Of what
// it has found that is left which a waiting task names in after: all of those are looked at before
// anything is deleted.
type keeping struct {
	next        time.Time // what comes next is not done before
	began       time.Time // when the walk did
	page, pages int64     // where it is, and its end; no pages: none is under way
	found       []int64   // rows that it has found, and not yet deleted
	asked       bool      // who names them
	behind      int64     // up to this id it was looked
	most        int       // how many rows the next statement deletes

	refused map[int64]bool // rows that the table keeps; they are tried again after a day
	since   time.Time      // when the first of them was
}

// restart begins another walk: what is found depends on how long tasks are kept.
func (k *keeping) restart() {
	k.next, k.pages, k.found = time.Time{}, 0, nil
}

func (l *loop) nextWalk() time.Duration {
	if len(l.live.Load().Keep) == 0 || l.handed || !l.draining.IsZero() {
		return never
	}
	return time.Until(l.keeping.next)
}

// walk deletes some old tasks, or looks for them on some pages. It takes a sixth of the time at
// most.
func (l *loop) walk(ctx context.Context) error {
	k, began := &l.keeping, time.Now()
	err := l.stepOfWalk(ctx)
	took := time.Since(began)
	var answer *pgconn.PgError
	switch {
	case err != nil && !fault.IsAnswer(err):
		return err
	case errors.As(err, &answer) && answer.Code != "57014" && !fault.Of(answer).Passing():
		k.restart()
		k.next = time.Now().Add(time.Minute)
		l.log.Hourly(l.log.Warn(), "old tasks").Err(err).Msg("old tasks cannot be deleted; trying again every minute")
	case err != nil:
		k.next = time.Now().Add(time.Second)
	case k.pages == 0:
		k.next = time.Now().Add(max(oldRest, time.Since(k.began)))
	default:
		k.next = time.Now().Add(max(20*time.Millisecond, 5*took))
	}
	return nil
}

// stepOfWalk does what comes next: it finds rows, asks who names them, or deletes some.
func (l *loop) stepOfWalk(ctx context.Context) error {
	switch k := &l.keeping; {
	case k.pages == 0:
		return l.beginWalk(ctx)
	case !k.asked && len(k.found) < oldFound && k.page < k.pages:
		return l.findOld(ctx)
	case !k.asked && len(k.found) > 0:
		return l.askWhoNames(ctx)
	case len(k.found) > 0:
		return l.deleteOld(ctx)
	case k.page < k.pages:
		k.asked = false
	default:
		k.pages = 0
	}
	return nil
}

// beginWalk looks how far there is to go.
func (l *loop) beginWalk(ctx context.Context) error {
	k := &l.keeping
	k.began, k.page, k.asked, k.most = time.Now(), 0, false, oldMost
	if time.Since(k.since) > 24*time.Hour || len(k.refused) >= refusedMost {
		k.refused, k.since = map[int64]bool{}, time.Now()
	}
	return l.asOld(ctx, "extent", func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&k.pages}, func() error { return nil })
		return err
	})
}

// findOld looks for old tasks on the next pages. Those on pages that take too long are left for the
// next walk.
func (l *loop) findOld(ctx context.Context) error {
	k := &l.keeping
	page := k.page
	k.page += oldPages
	k.behind = math.MinInt64
	return l.asOld(ctx, "old", func(rows pgx.Rows) error {
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, id := range ids {
			if !k.refused[id] {
				k.found = append(k.found, id)
			}
		}
		return err
	}, l.live.Load().Keep.Ages(), page, oldPages)
}

// askWhoNames leaves out of what was found what some of the waiting tasks name. It is done when all
// of those were looked at.
func (l *loop) askWhoNames(ctx context.Context) error {
	k := &l.keeping
	var named []int64
	var count int
	err := l.asOld(ctx, "named", func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&k.behind, &count, &named}, func() error { return nil })
		return err
	}, k.found, k.behind, namesMost)
	if err != nil {
		return err
	}
	k.asked = count < namesMost
	k.found = slices.DeleteFunc(k.found, func(id int64) bool { return slices.Contains(named, id) })
	return nil
}

// deleteOld deletes some of those that were found. Where that is refused, or takes long, the next
// statement deletes fewer, until the one is known that is to blame.
func (l *loop) deleteOld(ctx context.Context) error {
	k := &l.keeping
	ids := k.found[:min(k.most, len(k.found))]
	var kept []int64
	err := l.asOld(ctx, "forget", func(rows pgx.Rows) (err error) {
		kept, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	}, l.live.Load().Keep.Ages(), ids, k.behind)
	var answer *pgconn.PgError
	switch {
	case err == nil:
		for _, id := range kept {
			l.keepsOld(id, errors.New("a trigger has kept the row"))
		}
	case !errors.As(err, &answer) || !fault.Of(err).OfRow() && answer.Code != "57014":
		return err
	case fault.Of(answer).Passing():
		return nil // tried again
	case len(ids) > 1:
		k.most = len(ids) / 2
		return nil
	default:
		l.keepsOld(ids[0], answer)
	}
	k.most = min(2*k.most, oldMost)
	k.found = k.found[len(ids):]
	return nil
}

// keepsOld remembers a row that the table keeps.
func (l *loop) keepsOld(id int64, why error) {
	l.keeping.refused[id] = true
	l.changes.Stays(why, id)
}

// asOld runs a statement on old tasks, which waits for nothing.
func (l *loop) asOld(ctx context.Context, name string, read func(pgx.Rows) error, args ...any) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('lock_timeout', '50ms', true), "+
		"pg_catalog.set_config('synchronous_commit', 'off', true)", control.Milliseconds(oldLimit))
	l.control.Queue(batch, name, args...).Query(read)
	batch.Queue("COMMIT")
	return l.control.Send(ctx, batch)
}
