package keep

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// The limits of a step keep it short, as other duties wait for it.
const (
	pagesMost   = 16               // pages that one statement reads
	deletesMost = 100              // rows that one statement deletes
	foundMost   = 1000             // rows to find before the waiting tasks are read
	namesMost   = 1000             // waiting tasks that one statement reads
	stepLimit   = time.Second      // the server ends a statement that takes longer
	walkRest    = 10 * time.Second // shortest time between two walks
	idleRest    = time.Minute      // longest rest for each step of a walk that has found nothing,
	idleMost    = time.Hour        // at most
	refusedMost = 100_000          // refused rows that are remembered
	refusedFor  = 24 * time.Hour   // how long they are remembered
)

// Walk goes through the table, page by page, and deletes tasks whose retention is over. It keeps a
// task that a waiting task names in after: when it has found some old tasks, it reads all waiting
// tasks before it deletes any.
type Walk struct {
	Control *control.Control
	Changes *change.Changer
	Log     *target.Log
	Live    *atomic.Pointer[target.Live] // its Keep is the retention; empty: nothing is deleted

	next        time.Time // earliest time of the next step
	began       time.Time // start of this walk
	steps       int       // of this walk
	idle        int       // walks in a row that have found nothing, while no task ended
	page, pages int64     // next page, and number of pages; no pages: no walk is under way
	found       []int64   // rows to delete, unless a waiting task names them
	asked       bool      // all waiting tasks were read
	through     int64     // id of the last waiting task that was read
	most        int       // rows that the next statement deletes

	refused map[int64]bool // rows that the table refuses to delete
	since   time.Time      // when the map was made
}

// Restart makes the walk begin again at once. The loop calls it when the retention has changed.
func (w *Walk) Restart() {
	w.next, w.pages, w.found, w.idle = time.Time{}, 0, nil, 0
}

// Walks tells whether a walk is under way.
func (w *Walk) Walks() bool { return w.pages > 0 }

// Ended reports that a task has ended: a walk that rests long comes soon.
func (w *Walk) Ended() {
	if soon := time.Now().Add(walkRest); w.idle > 0 && w.next.After(soon) {
		w.next = soon
	}
	w.idle = 0
}

// rest is the time between two walks. An idle database may sleep in between.
func (w *Walk) rest() time.Duration {
	most := min(time.Duration(w.steps)*idleRest, idleMost)
	return max(min(walkRest<<min(w.idle, 10), most), walkRest, time.Since(w.began))
}

// Next returns the time until the next step.
func (w *Walk) Next() time.Duration {
	if len(w.Live.Load().Keep) == 0 {
		return hold.Never
	}
	return time.Until(w.next)
}

// Step deletes or looks for some old tasks. Then it rests five times as long as the step took.
func (w *Walk) Step(ctx context.Context) error {
	began := time.Now()
	w.steps++
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
		w.next = time.Now().Add(w.rest())
	default:
		w.next = time.Now().Add(max(20*time.Millisecond, 5*took))
	}
	return nil
}

// step finds old rows, or reads which of them are named, or deletes some.
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

// begin starts a walk: it reads the number of pages.
func (w *Walk) begin(ctx context.Context) error {
	w.began, w.steps, w.page, w.asked, w.most = time.Now(), 1, 0, false, deletesMost
	w.idle++
	if time.Since(w.since) > refusedFor || len(w.refused) >= refusedMost {
		w.refused, w.since = map[int64]bool{}, time.Now()
	}
	return w.query(ctx, "extent", nil, []any{&w.pages}, func() {})
}

// find looks for old tasks on the next pages. Pages that take too long wait for the next walk.
func (w *Walk) find(ctx context.Context) error {
	page := w.page
	w.page += pagesMost
	w.through = math.MinInt64
	var id int64
	return w.query(ctx, "old", []any{w.Live.Load().Keep.Ages(), page, pagesMost}, []any{&id}, func() {
		if !w.refused[id] {
			w.found, w.idle = append(w.found, id), 0
		}
	})
}

// spare reads some waiting tasks, and drops the rows that they name from found.
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

// delete deletes some of the rows that were found. If the table refuses, or takes too long, the
// next statement deletes half as many, down to one, and so finds the row in question.
func (w *Walk) delete(ctx context.Context) error {
	ids := w.found[:min(w.most, len(w.found))]
	var kept []int64
	var id int64
	err := w.query(ctx, "forget", []any{w.Live.Load().Keep.Ages(), ids, w.through}, []any{&id}, func() { kept = append(kept, id) })
	var answer *pgconn.PgError
	switch {
	case err == nil:
		for _, id := range kept {
			w.stays(id, errors.New("a trigger has kept the row"))
		}
	case !errors.As(err, &answer) || !fault.Of(err).OfRow() && answer.Code != "57014":
		return err
	case fault.Of(answer).Passing():
		return nil // the next step tries again
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

// stays remembers and logs a row that the table refuses to delete.
func (w *Walk) stays(id int64, why error) {
	w.refused[id] = true
	w.Changes.Stays(why, id)
}

// query runs a statement with short time limits. It scans each row into into, and then calls do.
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
