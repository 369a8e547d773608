package edit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
)

// Most is how many tasks an act changes in one statement. If some cannot be changed, it goes on
// with fewer at a time, down to one.
const Most = 500

// stepTime is how long one step looks for tasks.
const stepTime = 400 * time.Millisecond

// missedMost is the most tasks that are kept for the end since they were locked.
const missedMost = 10_000

// Walk is how far an act on many tasks is. It goes down from the highest id, so it meets no task
// that was made after it began.
type Walk struct {
	Began    time.Time // by the server's clock
	Position int64     // the next id to look at
	Least    int64     // the last one
	Missed   []int64   // tasks that were locked; they are tried once more at the end
	Done     int64     // tasks that were changed
	Failed   int64     // tasks that could not be changed
	Error    string    // of the last of these
	Ended    bool
}

// through is the position when all ids were looked at.
const through = math.MinInt64

// Begin returns an act on the tasks that pass a filter. It has done nothing yet.
func Begin(ctx context.Context, b *rows.Table, f *rows.Filter) (w Walk, err error) {
	least, greatest, err := b.IDs(ctx, f)
	if err != nil {
		return w, err
	}
	w.Least = max(least, through+1)
	err = b.Tx().QueryRow(ctx, b.Statement("act_last", nil)).Scan(&w.Position, &w.Began)
	if w.Position = min(w.Position, greatest); errors.Is(err, pgx.ErrNoRows) || w.Position < w.Least {
		w.Position, err = through, nil
	}
	return w, err
}

// Count returns how many tasks pass a filter and can be changed by an act, and whether there may be
// more. It counts for as long as limit.
func Count(ctx context.Context, b *rows.Table, d Doing, f *rows.Filter, limit time.Duration) (n int64, beyond bool, err error) {
	w, err := d.words(ctx, b)
	if err != nil {
		return 0, false, err
	}
	return b.Count(ctx, f, d.among(w, time.Time{}), limit)
}

// among adds the words for the tasks that pass a filter and can be changed. A copy that run has made
// since the act began is none of them.
func (d Doing) among(w map[string]string, began time.Time) map[string]string {
	w[":page_filter"] = "(\n" + sql.File("part/page_filter") + ") AND :can_" + d.Do
	if d.Do == "run" && !began.IsZero() {
		w[":page_filter"] += " AND coalesce(t.created < :began, true)"
		w[":began"] = sql.Literal(began.Format(time.RFC3339Nano)) + "::timestamptz"
	}
	return w
}

// Step changes the next tasks, at most so many. After an error, nothing has changed; Fewer says
// whether to try again with fewer tasks.
func (w Walk) Step(ctx context.Context, b *rows.Table, d Doing, f *rows.Filter, most int) (Walk, error) {
	words, err := d.words(ctx, b)
	if err != nil {
		return w, err
	}
	s := step{Walk: w, b: b, d: d, f: f, words: d.among(words, w.Began)}
	s.Missed = slices.Clone(w.Missed)
	switch {
	case w.Position != through:
		err = s.down(ctx, most)
	case len(w.Missed) > 0:
		id := w.Missed[0]
		s.Missed = s.Missed[1:]
		err = s.single(ctx, id)
	}
	s.Ended = s.Position == through && len(s.Missed) == 0
	return s.Walk, err
}

// Fewer reports whether an error of Step may be due to one of the tasks: then a step with fewer of
// them finds out which.
func Fewer(err error) bool {
	var answer *pgconn.PgError
	if errors.Is(err, rows.ErrSlow) {
		return true
	}
	return errors.As(err, &answer) && (answer.Code == "57014" || answered(err, 0) != err)
}

// step is one step of a walk.
type step struct {
	Walk
	b     *rows.Table
	d     Doing
	f     *rows.Filter
	words map[string]string
}

// down finds and changes the next tasks.
func (s *step) down(ctx context.Context, most int) error {
	type found struct {
		ID   int64
		Late bool
	}
	args := append(s.f.Args(), stepTime, s.Least, s.Position, most)
	list, _ := s.b.Tx().Query(ctx, s.b.Statement("act_find", s.words), args...) // CollectRows returns its error
	all, err := pgx.CollectRows(list, pgx.RowToStructByPos[found])
	if err != nil {
		return err
	}
	var ids []int64
	next := int64(through)
	if len(all) == most && all[most-1].ID > s.Least {
		next = all[most-1].ID - 1
	}
	for _, t := range all {
		if t.Late {
			next = t.ID
			break
		}
		ids = append(ids, t.ID)
	}
	if next == s.Position && len(ids) == 0 {
		return rows.ErrSlow
	}
	s.Position = next
	if most == 1 && len(ids) == 1 {
		return s.single(ctx, ids[0])
	}
	locked, err := s.lock(ctx, ids, "SKIP LOCKED")
	if err != nil || len(locked) == 0 && len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if !slices.Contains(locked, id) && len(s.Missed) < missedMost {
			s.Missed = append(s.Missed, id)
		}
	}
	n, err := s.d.change(ctx, s.b, s.words, locked)
	s.Done += n
	return err
}

// lock locks those of the tasks that still pass the filter.
func (s *step) lock(ctx context.Context, ids []int64, ifLocked string) ([]int64, error) {
	s.words[":if_locked"] = ifLocked
	list, _ := s.b.Tx().Query(ctx, s.b.Statement("act_lock", s.words), append(s.f.Args(), ids)...) // CollectRows returns its error
	return pgx.CollectRows(list, pgx.RowTo[int64])
}

// single changes one task. If it cannot, the act goes on without it; if the role may not do this at
// all, the act ends.
func (s *step) single(ctx context.Context, id int64) error {
	var n int64
	err := s.b.Apart(ctx, func() error {
		locked, err := s.lock(ctx, []int64{id}, "")
		if err == nil && len(locked) > 0 {
			n, err = s.d.change(ctx, s.b, s.words, locked)
		}
		return err
	})
	if err != nil && Fewer(err) && !s.b.Tx().Conn().IsClosed() {
		s.Failed++
		s.Error = fmt.Sprintf("task %d: %s", id, answered(err, 0))
		var answer *pgconn.PgError
		if errors.As(err, &answer) && answer.Code == "42501" {
			s.Position, s.Missed = through, nil
		}
		return nil
	}
	s.Done += n
	return err
}
