//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// takesIDs has a stranger insert so many of the ids that come next, in a transaction that stays open;
// last is the last one.
func (s *stage) takesIDs(n int) (stranger *pgx.Conn, last int64) {
	s.t.Helper()
	const soon = 100 // repetitions come about meanwhile
	stranger = s.connect()
	s.on(stranger, fmt.Sprintf("BEGIN; INSERT INTO task (id, plan, input) SELECT (SELECT nextval('task_id_seq')) + %d + g, 'infinity', '' FROM generate_series(1, %d) AS g ON CONFLICT (id) DO NOTHING", soon, n))
	s.on(stranger, fmt.Sprintf("SELECT count(nextval('task_id_seq')) FROM generate_series(1, %d)", soon))
	if err := stranger.QueryRow(s.t.Context(), "SELECT max(id) FROM task WHERE input = ''").Scan(&last); err != nil {
		s.t.Fatal(err)
	}
	return stranger, last
}

// TestIDsThatAreNotCommitted hold up no series for long, and pause none: a repetition takes another
// id, whoever writes the end, and who has them is named.
func TestIDsThatAreNotCommitted(t *testing.T) {
	t.Parallel()
	const many, effect = 20_000, "'INSERT INTO public.effect VALUES (' || i || ')'"
	for name, c := range someOf(map[string]struct {
		columns, values   string
		inserter, commits bool
	}{
		"in the task's transaction":     {columns: "input, repeat, max_failures", values: effect + ", '200 ms', 1"},
		"committed while one waits":     {columns: "input, repeat, max_failures", values: effect + ", '200 ms', 1", commits: true},
		"under the role that inserts":   {columns: "input, repeat, max_failures", values: effect + ", '200 ms', 1", inserter: true},
		"so, committed while one waits": {columns: "input, repeat, max_failures", values: effect + ", '200 ms', 1", inserter: true, commits: true},
		"with a key":                    {columns: "input, repeat, key, max_failures", values: effect + ", '200 ms', 'k' || i, 1"},
		"by the leader":                 {columns: "input, repeat", values: "'SELECT 1/0; SELECT ' || i, '200 ms'"},
		"before the start":              {columns: "input, repeat, overlap, max_failures", values: "'SELECT ' || i, '200 ms', true, 1"},
		"by cron":                       {columns: "input, cron, max_failures", values: effect + ", '* * * * * *', 1"},
		"on_fail":                       {columns: "input, on_fail, repeat", values: "'SELECT 1/0; SELECT ' || i, 'SELECT 2', '200 ms'"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *stage
			var inserts *pgx.Conn
			if c.inserter {
				firm := employed(t)
				s, inserts = firm.stage, firm.as(firm.alice)
			} else {
				s = play(t)
				inserts = s.conn
			}
			s.exec("CREATE TABLE effect (id int); GRANT INSERT ON effect TO PUBLIC")
			s.on(inserts, fmt.Sprintf(`INSERT INTO task ("group", delete, %s) SELECT 's' || i, false, %s FROM generate_series(1, 4) AS i`, c.columns, c.values))
			const goesOn = `SELECT count(*) FROM (SELECT FROM task WHERE id > $1 AND state IN ('DONE', 'FAIL') AND "group" LIKE 's%' GROUP BY "group" HAVING count(*) > 1) AS g`
			s.eventually("4", goesOn, 0)
			stranger, last := s.takesIDs(many)
			began := time.Now()
			if c.commits {
				s.eventually("true", "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'")
				s.on(stranger, "COMMIT")
			} else {
				s.on(inserts, `INSERT INTO task (id, "group", input) VALUES (-1, 'others', 'SELECT 1')`)
				s.becomes(-1, "DONE")
				if took := time.Since(began); took > servertest.Limit(2*time.Second) {
					t.Error("another task took ", took)
				}
			}
			s.eventually("4", goesOn, last)
			if took := time.Since(began); took > servertest.Limit(8*time.Second) {
				t.Error("the series stood still for ", took)
			}
			if !c.commits {
				s.says(`"warn"`, "has inserted ids", fmt.Sprintf("pid %d of role postgres", stranger.PgConn().PID()))
				s.on(stranger, "COMMIT")
				s.eventually("4", goesOn, s.get("SELECT last_value FROM task_id_seq"))
			}
			if met := s.get(`SELECT coalesce(string_agg(concat(id, ' ', state, ' ', error), E'\n'), '') FROM task WHERE "group" LIKE 's%' AND (state IN ('STOP', 'GONE')
				OR state = 'FAIL' AND error NOT LIKE '%division by zero%' OR error LIKE '%repetition%' OR attempt > 1)`); met != "" {
				t.Error(met)
			}
			if strings.Contains(s.logged(), "refuses") || s.leads() > 1 {
				t.Error("the leader has met more than that")
			}
		})
	}
}

// TestATriggerThatChoosesTakenIDs, for repetitions, refuses the end of a task, as any other that
// does.
func TestATriggerThatChoosesTakenIDs(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 7; RETURN NEW; END'; CREATE TRIGGER mine BEFORE INSERT ON task FOR EACH ROW WHEN (NEW.parent = 7) EXECUTE FUNCTION mine()")
	s.add("id, input, repeat, delete", 7, "SELECT 1", "1 s", false)
	s.becomes(7, "FAIL")
	s.eventually("1", "SELECT count(*) FROM task WHERE id = 7 AND error LIKE '%the end of the task could not be written: duplicate key value%'")
}
