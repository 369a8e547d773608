//go:build slow

package work

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
)

// TestManyRepetitionsVisitEachOnce: for each task that it repeats, a statement visits no more rows
// if it repeats many tasks, with keys or without.
func TestManyRepetitionsVisitEachOnce(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(map[string]struct{ columns, values string }{
		"with keys":    {"key", "'k' || i"},
		"without":      {"key", "NULL"},
		"of one role":  {"key, role", "'k' || i, 'a'"},
		"of two roles": {"key, role", "'k' || (i + 1) / 2, i % 2"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(target *Target) { target.Inserter = strings.Contains(c.columns, "role") })
			l := s.installed()
			s.exec("INSERT INTO task (input, state, plan, repeat, " + c.columns + ") SELECT 'SELECT 1', 'DONE', '2020-01-01', '1 day', " + c.values + " FROM generate_series(1, 400) AS i")
			for name, value := range control.Planning {
				must(t, s.conn, fmt.Sprintf("SET %s = %s", name, value))
			}
			must(t, s.conn, "SET session_replication_role = replica; PREPARE plan_repeat AS "+l.control.Queries().Text("repeat"))
			if few, many := s.repeats(40), s.repeats(400); many > 11*few {
				t.Errorf("visits %v rows for 40 tasks, and %v for 400", few, many)
			}
		})
	}
}

// repeats ends the first n tasks, repeats them and rolls back. It returns the visited rows.
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

// TestWhatFollowsTooSlowlyIsLeftOut: a row whose repetition takes too long twice ends without it,
// and holds up no other row.
func TestWhatFollowsTooSlowlyIsLeftOut(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	l.changes.FollowLimit = 300 * time.Millisecond
	s.exec("ALTER TABLE task ADD CHECK (parent IS NULL OR data <> 'odd' OR pg_sleep(30)::text IS NOT NULL)")
	s.exec("INSERT INTO task (input, data, plan, active, repeat) SELECT 'SELECT 1', CASE i WHEN 2 THEN 'odd' ELSE '' END, '2020-01-01', '1 s', '1 day' FROM generate_series(1, 4) AS i")
	expire := func() string {
		if err := l.leader.scan.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		for l.leader.expire.Len() > 0 {
			if err := l.leader.expire.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return s.get("SELECT string_agg(concat(id, ' ', state), ', ' ORDER BY id) FROM task WHERE parent IS NULL")
	}
	if got := expire(); got != "1 GONE, 2 PLAN, 3 GONE, 4 GONE" || !l.holds.Refuses(2) {
		t.Errorf("%s, though it was slow but once", got)
	}
	l.holds.Now = func() time.Time { return time.Now().Add(90 * time.Second) } // its minute is over
	if got := expire(); got != "1 GONE, 2 GONE, 3 GONE, 4 GONE" {
		t.Error(got)
	}
	if got := s.get("SELECT string_agg(parent::text, ' ' ORDER BY parent) FROM task"); got != "1 3 4" {
		t.Error("repeated are ", got)
	}
	if said := s.get("SELECT error FROM task WHERE id = 2"); !strings.Contains(said, "task not active") || !strings.Contains(said, "statement timeout") {
		t.Error(said)
	}
}

// TestAnEndWhoseRepetitionIsTooSlowIsWritten: without the repetition. Other tasks start.
func TestAnEndWhoseRepetitionIsTooSlowIsWritten(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Parallel()
	s := play(t)
	s.exec("ALTER TABLE task ADD CHECK (parent IS NULL OR data <> 'odd' OR pg_sleep(30)::text IS NOT NULL)")
	id := s.add("input, data, repeat", "SELECT 1/0", "odd", "1 day")
	s.becomes(id, "FAIL")
	if said := s.get("SELECT error FROM task WHERE id = $1", id); !strings.Contains(said, "division by zero") || !strings.Contains(said, "statement timeout") {
		t.Error(said)
	}
	s.others()
}

// TestManyThatWaitForOneAreNotVisited: awaited.sql visits none of them, and successors.sql only a
// few, whatever the statistics of the server say.
func TestManyThatWaitForOneAreNotVisited(t *testing.T) {
	t.Parallel()
	for what, setup := range map[string]string{"never analyzed": "", "analyzed": "ANALYZE task"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			l := s.installed()
			gate := s.add("input, plan", "SELECT 1", "infinity")
			s.exec("SET session_replication_role = replica")
			s.exec("INSERT INTO task (input, after, awaits, awaited, freed, priority) SELECT 'SELECT 1', ARRAY[$1::int8], "+awaitsFirst+", i % 7 FROM generate_series(1, 20000) AS i", gate)
			must(t, s.conn, setup)
			for name, args := range map[string][]string{
				"awaited":    {"0", "20"},
				"successors": {fmt.Sprintf("'{%d}'", gate), "20"},
			} {
				must(t, l.control.Conn(), "PREPARE plan_"+name+" AS "+l.control.Queries().Text(name)+"\n")
				if got, plan := explain(t, l.control.Conn(), name, planned{args: args}); got.rows > 200 || got.reads > 100 {
					t.Errorf("%s visits %v rows, %v pages:\n%s", name, got.rows, got.reads, plan)
				}
			}
		})
	}
}
