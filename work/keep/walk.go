package keep

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Limits of one step of a walk, so that other duties do not wait for it.
const (
	pagesMost   = 16               // pages that one statement reads
	deletesMost = 100              // rows that one statement deletes
	foundMost   = 1000             // rows that are found before waiting tasks are looked at
	namesMost   = 1000             // waiting tasks that one statement looks at
	stepLimit   = time.Second      // the server ends a statement that takes longer
	walkRest    = 10 * time.Second // between two walks, at least
	refusedMost = 100_000          // rows that are remembered
	refusedFor  = 24 * time.Hour   // how long
)

// Walk goes through the table, page by page, and deletes tasks that are older than they are kept. A
// task stays that a waiting one names in after: when some old tasks are found, all waiting tasks are
// looked at before one of those is deleted.
type Walk struct {
	Control *control.Control
	Changes *change.Changer
	Log     *target.Log
	Keep    func() target.Keep // how long tasks are kept now; nothing is deleted while it is empty

	next        time.Time // the next step is not done before
	began       time.Time // start of this walk
	page, pages int64     // where it is, and its end; no pages: none is under way
	found       []int64   // rows to delete, unless a waiting task names them
	asked       bool      // all waiting tasks were looked at
	through     int64     // id of the last waiting task that was looked at
	most        int       // how many rows the next statement deletes

	refused map[int64]bool // rows that the table keeps
	since   time.Time      // when the map was begun
}

// Restart begins another walk: which tasks are old depends on how long they are kept.
func (w *Walk) Restart() {
	w.next, w.pages, w.found = time.Time{}, 0, nil
}

// Next is how long the next step waits.
func (w *Walk) Next() time.Duration {
	if len(w.Keep()) == 0 {
		return hold.Never
	}
	return time.Until(w.next)
}

// Step deletes some old tasks, or looks for them on some pages. Its rest is five times as long as the
// step was.
func (w *Walk) Step(ctx context.Context) error {
	began := time.Now()
	err := w.step(ctx)
	took := time.Since(began)
	var answer *pgconn.PgError
	switch {
	case err != nil && !fault.IsAnswer(err):
		return err
	case errors.As(err, &answer) && answer.Code != "57014" && !fault.Of(answer).Passing():
		w.Restart()
		w.next = time.Now().Add(time.Minute)
		w.Log.Hourly(w.Log.Warn(), "old tasks").Err(err).Msg("old tasks cannot be deleted; trying again every minute")
	case err != nil:
		w.next = time.Now().Add(time.Second)
	case w.pages == 0:
		w.next = time.Now().Add(max(walkRest, time.Since(w.began)))
	default:
		w.next = time.Now().Add(max(20*time.Millisecond, 5*took))
	}
	return nil
}

// step does what comes next: it finds rows, asks who names them, or deletes some.
func (w *Walk) step(ctx context.Context) error {
	switch {
	case w.pages == 0:
		return w.begin(ctx)
	case !w.asked && len(w.found) < foundMost && w.page < w.pages:
		return w.find(ctx)
	case !w.asked && len(w.found) > 0:
		return w.spare(ctx)
	case len(w.found) > 0:
		return w.delete(ctx)
	case w.page < w.pages:
		w.asked = false
	default:
		w.pages = 0
	}
	return nil
}

// begin reads how many pages there are.
func (w *Walk) begin(ctx context.Context) error {
	w.began, w.page, w.asked, w.most = time.Now(), 0, false, deletesMost
	if time.Since(w.since) > refusedFor || len(w.refused) >= refusedMost {
		w.refused, w.since = map[int64]bool{}, time.Now()
	}
	return w.query(ctx, "extent", nil, []any{&w.pages}, func() {})
}

// find looks for old tasks on the next pages. Pages that take too long are left for the next walk.
func (w *Walk) find(ctx context.Context) error {
	page := w.page
	w.page += pagesMost
	w.through = math.MinInt64
	var id int64
	return w.query(ctx, "old", []any{w.Keep().Ages(), page, pagesMost}, []any{&id}, func() {
		if !w.refused[id] {
			w.found = append(w.found, id)
		}
	})
}

// spare leaves out those that some of the waiting tasks name.
func (w *Walk) spare(ctx context.Context) error {
	var named []int64
	var count int
	err := w.query(ctx, "named", []any{w.found, w.through, namesMost}, []any{&w.through, &count, &named}, func() {})
	if err != nil {
		return err
	}
	w.asked = count < namesMost
	w.found = slices.DeleteFunc(w.found, func(id int64) bool { return slices.Contains(named, id) })
	return nil
}

// delete deletes some of the rows that were found. If that is refused, or takes long, the next
// statement deletes fewer, until the row in question stands alone.
func (w *Walk) delete(ctx context.Context) error {
	ids := w.found[:min(w.most, len(w.found))]
	var kept []int64
	var id int64
	err := w.query(ctx, "forget", []any{w.Keep().Ages(), ids, w.through}, []any{&id}, func() { kept = append(kept, id) })
	var answer *pgconn.PgError
	switch {
	case err == nil:
		for _, id := range kept {
			w.stays(id, errors.New("a trigger has kept the row"))
		}
	case !errors.As(err, &answer) || !fault.Of(err).OfRow() && answer.Code != "57014":
		return err
	case fault.Of(answer).Passing():
		return nil // tried again
	case len(ids) > 1:
		w.most = len(ids) / 2
		return nil
	default:
		w.stays(ids[0], answer)
	}
	w.most = min(2*w.most, deletesMost)
	w.found = w.found[len(ids):]
	return nil
}

// stays remembers a row that the table keeps.
func (w *Walk) stays(id int64, why error) {
	w.refused[id] = true
	w.Changes.Stays(why, id)
}

// query runs a statement that waits for nothing, and calls do for each row, which was read into these.
func (w *Walk) query(ctx context.Context, name string, args, into []any, do func()) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true), "+
		"pg_catalog.set_config('lock_timeout', '50ms', true), "+
		"pg_catalog.set_config('synchronous_commit', 'off', true)", control.Milliseconds(stepLimit))
	w.Control.Queue(batch, name, args...).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, into, func() error {
			do()
			return nil
		})
		return err
	})
	batch.Queue("COMMIT")
	return w.Control.Send(ctx, batch)
}
