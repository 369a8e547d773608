package rows

import (
	"context"
	"time"
)

// Count counts the tasks that pass a filter for as long as limit, up to CountMost; beyond: there may
// be more. words can replace the part of the statement that filters.
func (b *Table) Count(ctx context.Context, f *Filter, words map[string]string, limit time.Duration) (n int64, beyond bool, err error) {
	w, err := b.walk(ctx, f, Newest)
	if err != nil {
		return 0, false, err
	}
	err = b.conn.QueryRow(ctx, b.Statement("count_"+w.name, words), w.args(limit, CountMost+1)...).Scan(&n, &beyond)
	if n > CountMost {
		n, beyond = CountMost, true
	}
	return n, beyond, slow(encoding(err))
}
