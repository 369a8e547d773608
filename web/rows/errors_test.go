package rows

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestErrorsAreGroups by SQLSTATE and first line, as they are shown.
func TestErrorsAreGroups(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	tasks.Exec(`INSERT INTO task (id, input, state, stop, sqlstate, error) SELECT i, '', 'FAIL', '2020-01-01'::timestamptz + i * interval '1 day', '22012',
		E'ERROR:  wrong\nSTATEMENT:  ' || i FROM generate_series(1, 5) AS i`)
	tasks.Exec(`INSERT INTO task (id, input, state, stop, error) VALUES (10, '', 'GONE', '2020-01-01', 'ERROR:  wrong'),
		(11, '', 'FAIL', '2020-01-02', 'ERROR:  password=one'), (12, '', 'FAIL', '2020-01-01', 'ERROR:  password=two'),
		(13, '', 'DONE', '2020-01-01', NULL), (14, '', 'FAIL', '2020-01-01', E'QUERY:  SELECT 1\nx'), (15, '', 'FAIL', now(), repeat('é', 201) || '1')`)
	tasks.Exec(`INSERT INTO task (id, input, plan, sqlstate, error) VALUES (16, '', now() + interval '1 day', '22012', 'ERROR:  wrong')`)
	find := func(hidden Hidden, limit time.Duration) (all []Failure, left int64) {
		all = read(t, s, to, func(ctx context.Context, b *Table) (found []Failure, err error) {
			found, left, err = b.Failures(ctx, hidden, limit, 10)
			return found, err
		})
		return all, left
	}
	all, left := find(Hidden{Input: true}, time.Second)
	lines := map[string]Failure{}
	for _, f := range all {
		code := ""
		if f.SQLState != nil {
			code = *f.SQLState
		}
		lines[code+" "+f.Error] = f
	}
	if f := all[0]; f.Count != 6 || f.Failed != 5 || f.Waits != 1 || f.Example != 16 || f.First.Time.UTC().Format(time.DateOnly) != "2020-01-02" || time.Since(f.Last.Time) < -time.Hour {
		t.Errorf("%+v", f)
	}
	if f := lines[" ERROR:  wrong"]; f.Gone != 1 || strings.Join(f.Ended(), "") != "GONE" {
		t.Errorf("%+v", f)
	}
	if f := lines[" ERROR:  password=***"]; f.Count != 2 || f.Example != 12 || !f.First.Time.Before(f.Last.Time) {
		t.Errorf("%+v", f)
	}
	if f := lines[" "]; f.Count != 1 || f.Ended() != nil {
		t.Errorf("with the input hidden, a line of SQL is %+v", f)
	}
	if _, known := lines[" "+strings.Repeat("é", 200)]; !known || len(all) != 5 || left != 0 {
		t.Errorf("%+v, %d left", all, left)
	}
	for _, f := range all {
		filter := Filter{SQLState: "none", Error: f.Error, Hidden: Hidden{Input: true}}
		if f.SQLState != nil {
			filter.SQLState = *f.SQLState
		}
		p := read(t, s, to, func(ctx context.Context, b *Table) (*Page, error) {
			return b.Tasks(ctx, &filter, Newest, nil, time.Second, time.Second)
		})
		if f.Error != "" && p.Count != f.Count {
			t.Errorf("%+v has %d tasks", f, p.Count)
		}
	}
	if all, left := find(Hidden{}, 0); len(all) != 0 || left != 11 {
		t.Errorf("without time it finds %v, and leaves out %d", all, left)
	}
}
