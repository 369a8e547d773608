//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestIDsThatAreNotCommitted: they hold up only the series that need one of them. When they are
// committed, repetitions take other ids.
func TestIDsThatAreNotCommitted(t *testing.T) {
	t.Parallel()
	const effect = "'INSERT INTO public.effect VALUES (' || i || ')'"
	for name, c := range someOf(map[string]struct{ columns, values, end string }{
		"writing":    {"input, repeat, max_failures", effect + ", '200 ms', 1", "COMMIT"},
		"taken back": {"input, repeat, max_failures", effect + ", '200 ms', 1", "ROLLBACK"},
		"with a key": {"input, repeat, key, max_failures", effect + ", '200 ms', 'k' || i, 1", "COMMIT"},
		"failing":    {"input, repeat", "'SELECT 1/0; SELECT ' || i, '200 ms'", "COMMIT"},
		"overlap":    {"input, repeat, overlap, max_failures", "'SELECT ' || i, '200 ms', true, 1", "COMMIT"},
		"by cron":    {"input, cron, max_failures", effect + ", '* * * * * *', 1", "COMMIT"},
		"on_fail":    {"input, on_fail, repeat", "'SELECT 1/0; SELECT ' || i, 'SELECT 2', '200 ms'", "COMMIT"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (id int)")
			s.exec(fmt.Sprintf(`INSERT INTO task ("group", delete, %s) SELECT 's' || i, false, %s FROM generate_series(1, 4) AS i`, c.columns, c.values))
			const goesOn = `SELECT count(*) FROM (SELECT FROM task WHERE id > $1 AND state IN ('DONE', 'FAIL') AND "group" LIKE 's%' GROUP BY "group" HAVING count(*) > 1) AS g`
			s.eventually("4", goesOn, 0)
			stranger := s.connect()
			s.on(stranger, "BEGIN; INSERT INTO task (id, plan, input) SELECT (SELECT nextval('task_id_seq')) + g, 'infinity', '' FROM generate_series(1, 1000) AS g ON CONFLICT (id) DO NOTHING")
			s.says(`"warn"`, "keeps a task's row from being changed", fmt.Sprintf("pid %d of role postgres", stranger.PgConn().PID()))
			s.exec(`INSERT INTO task (id, "group", input) VALUES (-1, 'others', 'SELECT 1')`)
			s.becomes(-1, "DONE")
			s.eventually("true", "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'")
			s.on(stranger, c.end)
			s.eventually("4", goesOn, s.get("SELECT last_value FROM task_id_seq"))
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

// TestATriggerThatChoosesTakenIDs: it ends the series, like any trigger that refuses repetitions.
func TestATriggerThatChoosesTakenIDs(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := 7; RETURN NEW; END'; CREATE TRIGGER mine BEFORE INSERT ON task FOR EACH ROW WHEN (NEW.parent = 7) EXECUTE FUNCTION mine()")
	s.add("id, input, repeat, delete", 7, "SELECT 1", "1 s", false)
	s.becomes(7, "DONE")
	s.eventually("1", "SELECT count(*) FROM task WHERE id = 7 AND error LIKE '%the end of the task could not be written: duplicate key value%'")
}
