package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/sql"
	"pgtaskd/work"
)

// pageOf reads one page of tasks.
func pageOf(t *testing.T, s *Sessions, to work.Target, f Filter, order string, after *Place, limit time.Duration) (p *Page) {
	t.Helper()
	err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) (err error) {
		p, err = b.Tasks(ctx, &f, order, after, limit, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// walked reads all pages, and returns the ids and how many pages there were.
func walked(t *testing.T, s *Sessions, to work.Target, f Filter, order string, limit time.Duration) (ids []int64, pages int) {
	t.Helper()
	for after := (*Place)(nil); ; pages++ {
		p := pageOf(t, s, to, f, order, after, limit)
		for _, one := range p.Tasks {
			ids = append(ids, one.ID)
		}
		if p.After == nil {
			return ids, pages + 1
		}
		after = p.After
	}
}

func typed(text string) pgtype.Timestamptz {
	at, _ := time.Parse(time.RFC3339, text)
	return pgtype.Timestamptz{Time: at, Valid: true}
}

// TestFilterHoldsWholeValues: and what somebody types is no pattern.
func TestFilterHoldsWholeValues(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks, `INSERT INTO task (id, "group", key, state, plan, stop, input, data, error) VALUES
		(1, 'g', 'k', 'DONE', '2030-01-01 00:00Z', now(), 'SELECT 100%', 'Ärger', NULL),
		(2, 'g5', 'k5', 'FAIL', '2030-01-02 00:00Z', now(), 'SELECT 1000', NULL, E'ERROR:  no such_table\nSTATEMENT:  secret'),
		(3, 'g%', NULL, 'FAIL', '2030-01-03 00:00Z', now(), E'a\\b', NULL, 'FATAL: password="hush" for postgres://u:geheim@h/db'),
		(4, 'G', '', 'PLAN', 'infinity', NULL, '', NULL, NULL),
		(5, 'g', 'K', 'STOP', '-infinity', NULL, '', NULL, NULL),
		(6, 'g', 'wait', 'PLAN', '294276-12-31 23:59:59.999999Z', NULL, '', NULL, NULL),
		(7, 'g', NULL, 'WORK', '4713-01-01 00:00Z BC', NULL, '', NULL, NULL),
		(-9223372036854775808, 'edge', NULL, 'DONE', now(), now(), '', NULL, NULL), (9223372036854775807, 'edge', NULL, 'DONE', now(), now(), '', NULL, NULL)`)
	least, greatest := pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}, pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}
	for _, c := range []struct {
		f    Filter
		want []int64
	}{
		{Filter{Group: "g"}, []int64{7, 6, 5, 1}},
		{Filter{Group: "g%"}, []int64{3}},
		{Filter{Group: "edge"}, []int64{math.MaxInt64, math.MinInt64}},
		{Filter{Key: "k"}, []int64{1}},
		{Filter{Key: "wait", States: []string{"PLAN"}}, []int64{6}},
		{Filter{Key: "k", States: []string{"PLAN"}}, nil},
		{Filter{States: []string{"FAIL", "STOP"}}, []int64{5, 3, 2}},
		{Filter{States: []string{"PLAN", "WORK"}}, []int64{7, 6, 4}},
		{Filter{States: []string{"WORK"}}, []int64{7}},
		{Filter{ID: pgtype.Int8{Int64: math.MinInt64, Valid: true}}, []int64{math.MinInt64}},
		{Filter{ID: pgtype.Int8{Int64: 3, Valid: true}, Group: "g"}, nil},
		{Filter{Since: typed("2030-01-02T00:00:00Z"), Until: moment("2030-01-03T00:00:00Z")}, []int64{2}},
		{Filter{Since: typed("9999-01-01T00:00:00Z")}, []int64{6, 4}},
		{Filter{Since: greatest}, []int64{4}},
		{Filter{Until: typed("0001-01-01T00:00:00Z")}, []int64{7, 5}},
		{Filter{Until: least}, nil},
		{Filter{Text: "100%"}, []int64{1}},
		{Filter{Text: "_"}, []int64{2}},
		{Filter{Text: `\`}, []int64{3}},
		{Filter{Text: "ÄrGER"}, []int64{1}},
		{Filter{Text: "SECRET"}, []int64{2}},
		{Filter{Text: "secret", Hidden: Hidden{Input: true}}, nil},
		{Filter{Text: "such_table", Hidden: Hidden{Input: true}}, []int64{2}},
		{Filter{Text: "select", Hidden: Hidden{Input: true}}, nil},
		{Filter{Text: "Ärger", Hidden: Hidden{Data: true}}, nil},
		{Filter{Text: "hush"}, nil},
		{Filter{Text: "geheim"}, nil},
		{Filter{Text: "password=*** for postgres://u:***@h/db"}, []int64{3}},
	} {
		for _, order := range []string{Newest, Oldest} {
			got, _ := walked(t, s, to, c.f, order, time.Second)
			if order == Oldest {
				slices.Reverse(got)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s of %+v: %v, not %v", order, c.f, got, c.want)
			}
		}
	}
	if got, _ := walked(t, s, to, Filter{}, Due, time.Second); !slices.Equal(got, []int64{7, 6, 4}) {
		t.Errorf("in the order of due: %v", got)
	}
	shown := pageOf(t, s, to, Filter{ID: pgtype.Int8{Int64: 3, Valid: true}, Hidden: Hidden{Input: true}}, Newest, nil, time.Second).Tasks[0]
	if shown.Input != nil || *shown.Error != "FATAL: password=*** for postgres://u:***@h/db" {
		t.Errorf("%+v", shown)
	}
}

// TestPagesAndCountsAgree: all pages together have each task once, and as many as were counted.
func TestPagesAndCountsAgree(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks, `INSERT INTO task (id, input, "group", state, plan, stop)
		SELECT i, '', 'g' || i % 3, (CASE WHEN i <= 180 THEN 'PLAN' WHEN i % 2 = 0 THEN 'DONE' ELSE 'FAIL' END)::state, now() + (i % 7) * interval '1 h', CASE WHEN i > 180 THEN now() END
		FROM generate_series(1, 10300) AS i`)
	for _, c := range []struct {
		f     Filter
		order string
		count int64
		over  bool
	}{
		{Filter{Group: "g1"}, Newest, 3434, false},
		{Filter{Group: "g1", States: []string{"FAIL"}}, Oldest, 1687, false},
		{Filter{States: []string{"PLAN"}}, Newest, 180, false},
		{Filter{States: []string{"PLAN"}}, Oldest, 180, false},
		{Filter{Group: "g2"}, Due, 60, false},
		{Filter{Group: "none"}, Newest, 0, false},
		{Filter{}, Newest, CountMost, true},
	} {
		ids, pages := walked(t, s, to, c.f, c.order, time.Minute)
		want := int(c.count)
		if c.over {
			want = 10_300
		}
		if pages != max((want+pageLength-1)/pageLength, 1) || len(ids) != want {
			t.Errorf("%+v: %d tasks on %d pages", c.f, len(ids), pages)
		}
		if slices.Sort(ids); len(slices.Compact(ids)) != want {
			t.Errorf("%+v: some task comes twice", c.f)
		}
		first := pageOf(t, s, to, c.f, c.order, nil, time.Minute)
		if first.Count != c.count || first.Beyond != c.over {
			t.Errorf("%+v: %d are counted, more: %t", c.f, first.Count, first.Beyond)
		}
		if first.After != nil {
			if second := pageOf(t, s, to, c.f, c.order, first.After, time.Minute); second.Count != first.Count {
				t.Errorf("%+v: the second page counts %d", c.f, second.Count)
			}
		}
	}
}

// TestListsEndInTime: a page says how far it has come, and the next one goes on from there.
func TestListsEndInTime(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks, `INSERT INTO task (id, input, state) SELECT i, '', (CASE WHEN i IN (1, 20000) THEN 'FAIL' ELSE 'DONE' END)::state FROM generate_series(1, 20000) AS i`)
	for _, order := range []string{Newest, Oldest} {
		ids, pages := walked(t, s, to, Filter{States: []string{"FAIL"}}, order, 4*time.Millisecond)
		if slices.Sort(ids); !slices.Equal(ids, []int64{1, 20_000}) || pages < 2 {
			t.Errorf("%s: %v on %d pages", order, ids, pages)
		}
	}
}

// node is a node of a plan, as EXPLAIN shows it.
type node struct {
	Kind     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Plans    []node
}

// read returns how many rows of the table a plan reads, and by which nodes.
func (n node) read() (rows float64, kinds []string) {
	if n.Relation == "task" {
		rows, kinds = (n.Rows+n.Filtered)*n.Loops, []string{n.Kind}
	}
	for _, below := range n.Plans {
		more, by := below.read()
		rows, kinds = rows+more, append(kinds, by...)
	}
	return rows, kinds
}

// TestListsReadTasksByIndex: no statement sorts or scans the table, whatever its statistics say.
func TestListsReadTasksByIndex(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks, "ALTER TABLE task SET (autovacuum_enabled = off)", `INSERT INTO task (id, input, state, plan, key)
		SELECT i, '', (CASE WHEN i % 10 = 0 THEN 'PLAN' ELSE 'DONE' END)::state, now(), 'k' || i FROM generate_series(1, 20000) AS i`)
	const bulk = 20_000
	all := func(order ...any) []any {
		w := Walk{filter: (&Filter{}).Args(), Least: math.MinInt64, Greatest: math.MaxInt64, order: order}
		return w.args(time.Minute, 51)
	}
	place := []any{typed("2020-01-01T00:00:00Z"), int64(0)}
	statements := []struct {
		name string
		args []any
		most float64 // rows that it may read
	}{
		{"tasks newest", all(), 51},
		{"tasks oldest", all(), 51},
		{"tasks due", all(place...), 51},
		{"tasks waiting", all(true, true, 1000), 1051},
		{"count newest", all(), 51},
		{"count due", all(place...), 51},
		{"searched", []any{int64(1000)}, 1001},
		{"waiting", []any{true, 500}, 500},
		{"waits_key", []any{"k70"}, 1},
	}
	check := func(world string) {
		err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) error {
			for _, c := range statements {
				var written string
				name, part, found := strings.Cut(c.name, " ")
				words := map[string]string{}
				if found {
					words[":page_newest"] = sql.File("part/page_" + part)
				}
				if err := b.conn.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+b.Statement(name, words), c.args...).Scan(&written); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				var plans []struct{ Plan node }
				if err := json.Unmarshal([]byte(written), &plans); err != nil {
					return err
				}
				rows, kinds := plans[0].Plan.read()
				if slices.ContainsFunc(kinds, func(kind string) bool { return !strings.HasPrefix(kind, "Index") }) || rows > c.most {
					t.Errorf("%s: %s reads %.0f of %d rows by %v", world, c.name, rows, bulk, kinds)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check("statistics of an empty table")
	written(t, tasks, "ANALYZE task")
	check("statistics of a full table")
}
