package edit

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/web/rows"
)

// Start makes an act on the tasks that pass a filter, and returns its id in the table of acts. It
// has changed nothing yet.
func Start(ctx context.Context, b *rows.Table, d Doing, f *rows.Filter, matched int64) (id int64, err error) {
	if err := CanRecord(b); err != nil {
		return 0, err
	}
	w, err := Begin(ctx, b, f)
	if err != nil {
		return 0, err
	}
	filter, err := Keep(f)
	if err != nil {
		return 0, err
	}
	err = b.Tx().QueryRow(ctx, b.Statement("act_begin", nil), d.By, d.Do, filter, d.Data, matched, w.Position, w.Began, w.Least).Scan(&id)
	if err != nil {
		return 0, answered(err, http.StatusConflict)
	}
	return id, nil
}

// Open returns the ids of the acts that go on, in order.
func Open(ctx context.Context, b *rows.Table) ([]int64, error) {
	if !b.Has("act") {
		return nil, nil
	}
	list, _ := b.Tx().Query(ctx, b.Statement("act_open", nil)) // CollectRows returns its error
	return pgx.CollectRows(list, pgx.RowTo[int64])
}

// Next does the next step of an act with at most so many tasks. taken: the act goes on, and no other
// controller works on it; ended: it has ended.
func Next(ctx context.Context, b *rows.Table, id int64, most int) (taken, ended bool, err error) {
	var d Doing
	var w Walk
	var filter []byte
	err = b.Tx().QueryRow(ctx, b.Statement("act_take", nil), id).
		Scan(&d.By, &d.Do, &filter, &d.Data, &w.Least, &w.Position, &w.Missed, &w.Done, &w.Failed, &w.Error, &w.Began)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	var f *rows.Filter
	if err == nil {
		f, err = Kept(filter)
	}
	if err == nil && !slices.Contains(Verbs, d.Do) {
		err = errors.New("there is no act " + d.Do)
	}
	if err == nil {
		w, err = w.Step(ctx, b, d, f, most)
	}
	if err == nil {
		_, err = b.Tx().Exec(ctx, b.Statement("act_step", nil), id, w.Position, w.Missed, w.Done, w.Failed, w.Error, w.Ended)
	}
	return true, w.Ended, err
}

// Stop stops an act on many tasks.
func Stop(ctx context.Context, b *rows.Table, id int64, by string) error {
	none := Refuse(http.StatusNotFound, "there is no act %d", id)
	if !b.Has("act") {
		return none
	}
	var went bool
	err := b.Tx().QueryRow(ctx, b.Statement("act_stop", nil), id, by).Scan(&went)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return none
	case err != nil:
		return answered(err, http.StatusConflict)
	case !went:
		return Refuse(http.StatusConflict, "act %d has ended", id)
	}
	return nil
}
