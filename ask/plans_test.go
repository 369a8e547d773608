package ask

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// plan is a node of a plan, as EXPLAIN shows it.
type plan struct {
	Kind     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Plans    []plan
}

// read returns how many rows of the table a plan has read.
func (p plan) read() float64 {
	rows := 0.0
	if p.Relation == "task" {
		rows = (p.Rows + p.Filtered) * p.Loops
	}
	for _, below := range p.Plans {
		rows += below.read()
	}
	return rows
}

func (p plan) kinds() []string {
	all := []string{}
	if p.Relation == "task" && p.Loops > 0 {
		all = append(all, p.Kind)
	}
	for _, below := range p.Plans {
		all = append(all, below.kinds()...)
	}
	return all
}

func explain(t *testing.T, conn *pgx.Conn, text string, args []any) plan {
	t.Helper()
	var written string
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+text, args...).Scan(&written); err != nil {
		t.Fatal(text, err)
	}
	var plans []struct{ Plan plan }
	if err := json.Unmarshal([]byte(written), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

// TestNothingReadsALargeTable: with many ended or waiting tasks, each statement reads only the rows
// that it needs, by an index, whatever the statistics say.
func TestNothingReadsALargeTable(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task SET (autovacuum_enabled = off)")
	put(t, tasks.Conn, `INSERT INTO task (input, state, plan, stop) SELECT 'SELECT ' || i, CASE WHEN i % 1000 = 0 THEN 'FAIL' ELSE 'DONE' END::state, now(), now()
		FROM generate_series(1, $1::int) AS i`, many)
	statements := []struct {
		name string
		args []any
		most float64 // rows that it may read
	}{
		{"open", []any{lookedAt}, lookedAt},
		{"failed", []any{lookedAt}, lookedAt},
		{"grouped", []any{"no", lookedAt}, 2 * lookedAt},
		{"list", append((&rows.Filter{}).Args(), time.Minute, int64(math.MinInt64), int64(math.MaxInt64), 20), 20},
		{"named", []any{[]int64{5, 150_000, 7}}, 3},
		{"due", []any{watched}, watched},
		{"newer", []any{int64(5), watched}, watched},
		{"newest", nil, 1},
		{"left", []any{nil, lookedAt}, lookedAt},
		{"waiting_again", []any{lookedAt, leftShown}, lookedAt},
		{"change", []any{5, true}, 3},
		{"change", []any{5, false}, 3},
	}
	check := func(world string) {
		b, err := open(t.Context(), target, "test", rows.ChangesTasks)
		if err != nil {
			t.Fatal(err)
		}
		defer b.close()
		for _, c := range statements {
			p := explain(t, b.conn, b.queries.Text(c.name), c.args)
			if kinds := p.kinds(); slices.Contains(kinds, "Seq Scan") || slices.Contains(kinds, "Bitmap Heap Scan") || p.read() > c.most {
				t.Errorf("%s: %s reads %.0f rows by %v", world, c.name, p.read(), kinds)
			}
		}
		p := explain(t, b.conn, b.Statement("jobs", nil), []any{2 * rows.JobsMost, rows.NewestRows, rows.JobsMost + 1})
		if most := 3.0 * rows.NewestRows; slices.Contains(p.kinds(), "Seq Scan") || p.read() > most {
			t.Errorf("%s: jobs reads %.0f rows by %v", world, p.read(), p.kinds())
		}
		began := time.Now()
		_ = ShowStatus(t.Context(), people().Screen, []work.Target{target}, patient)
		t.Log(world, ": status took ", time.Since(began))
	}
	check("statistics of an empty table")
	servertest.Exec(t, tasks.Conn, "ANALYZE task")
	check("statistics of ended tasks")
	servertest.Exec(t, tasks.Conn, "TRUNCATE task")
	put(t, tasks.Conn, "INSERT INTO task (id, input, plan) SELECT i, 'SELECT ' || i, now() - interval '1 s' FROM generate_series(1, $1::int) AS i", many)
	check("tasks that wait")
	s := people()
	if _ = ShowStatus(t.Context(), s.Screen, []work.Target{target}, patient); s.err.Len() > 0 {
		t.Error(s.text())
	}
	has(t, s.out.String(), fmt.Sprint(lookedAt, "+"))
}
