package rows

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Count counts the tasks that pass a filter for as long as limit, up to CountMost; beyond: there may
// be more. words can replace the part of the statement that filters.
func (b *Table) Count(ctx context.Context, f *Filter, words map[string]string, limit time.Duration) (n int64, beyond bool, err error) {
	w, err := b.Walk(ctx, f, Newest)
	if err != nil {
		return 0, false, err
	}
	return w.count(ctx, b, words, limit)
}

func (w *Walk) count(ctx context.Context, b *Table, words map[string]string, limit time.Duration) (n int64, beyond bool, err error) {
	list, _ := w.Query(ctx, b, "page/count", words, limit, CountMost+1) // ForEachRow returns its error
	_, err = pgx.ForEachRow(list, []any{&n, &beyond}, func() error { return nil })
	if n > CountMost {
		n, beyond = CountMost, true
	}
	return n, beyond, slow(encoding(err))
}
