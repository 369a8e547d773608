package work

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestManyRepetitionsVisitEachOnce: what a statement visits for each task that it repeats is no more
// where it repeats many, with keys or without.
func TestManyRepetitionsVisitEachOnce(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"with keys": "'k' || i", "without": "NULL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			l := s.installed()
			s.exec("INSERT INTO task (input, key, plan, repeat) SELECT 'SELECT 1', " + key + ", '2020-01-01', '1 day' FROM generate_series(1, 400) AS i")
			for name, value := range planning {
				must(t, s.conn, fmt.Sprintf("SET %s = %s", name, value))
			}
			must(t, s.conn, "SET session_replication_role = replica; PREPARE plan_repeat AS "+l.queries().Text("repeat"))
			if few, many := s.repeats(40), s.repeats(400); many > 11*few {
				t.Errorf("visits %v rows for 40 tasks, and %v for 400", few, many)
			}
		})
	}
}

// repeats ends the first tasks and repeats them, and takes that back: it is what that visits.
func (s *stage) repeats(n int) (visited float64) {
	s.t.Helper()
	ids := s.get("SELECT quote_literal(array_agg(i)) FROM generate_series(1, $1::int) AS i", n)
	tx, err := s.conn.Begin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(s.t.Context()) }()
	var text string
	if _, err = tx.Exec(s.t.Context(), "UPDATE task SET state = 'DONE', start = plan, stop = plan WHERE id <= $1", n); err == nil {
		err = tx.QueryRow(s.t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE plan_repeat("+ids+")", pgx.QueryExecModeSimpleProtocol).Scan(&text)
	}
	var plans []struct{ Plan node }
	if err == nil {
		err = json.Unmarshal([]byte(text), &plans)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if made := s.get("SELECT count(*) FROM task WHERE parent IS NOT NULL"); made != fmt.Sprint(n) {
		s.t.Fatalf("%s repetitions of %d tasks", made, n)
	}
	return plans[0].Plan.visited()
}
