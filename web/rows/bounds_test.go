package rows

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPagesReadNoMoreThanTheirBounds by an index, whatever is in the table.
func TestPagesReadNoMoreThanTheirBounds(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	tasks.Exec(`INSERT INTO task (input, state, start, stop, error) SELECT '', 'FAIL', now(), now(), 'ERROR:  ' || i FROM generate_series(1, 3000) AS i`)
	tasks.Exec(`INSERT INTO task (input, "group") SELECT '', 'g' || i % 100 FROM generate_series(1, 3000) AS i`)
	tasks.Exec(`INSERT INTO task (input, repeat, plan, state) SELECT '', '1 day', now() + interval '1 day', 'STOP' FROM generate_series(1, 3000) AS i`)
	tasks.Exec(`INSERT INTO task_group ("group", slots) SELECT 'g' || i || '%', 1 FROM generate_series(1, 1000) AS i`)
	for name, c := range map[string]struct {
		args []any
		most float64
	}{
		"now":     {[]any{100}, 100},
		"counts":  {[]any{100, 50}, 100 + 50},
		"running": {[]any{100, 50, false, 10}, 100 + 50},
		"errors":  {[]any{100, time.Second, 10}, 100},
		"groups":  {[]any{100, nil, nil, 10}, 100},
	} {
		written := read(t, s, to, func(ctx context.Context, b *Table) (text []byte, err error) {
			if err = b.hashes(ctx); err == nil {
				err = b.conn.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+b.queries.Text(name), c.args...).Scan(&text)
			}
			return text, err
		})
		var plans []struct{ Plan node }
		if err := json.Unmarshal(written, &plans); err != nil {
			t.Fatal(err)
		}
		rows, kinds := plans[0].Plan.read()
		if rows > c.most || rows == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return !strings.HasPrefix(kind, "Index") }) {
			t.Errorf("%s reads %v rows: %s", name, rows, written)
		}
	}
}
