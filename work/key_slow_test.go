//go:build slow

package work

import (
	"strconv"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestASeriesWhoseRetryIsSupersededGoesOn: if the waiting task with its key repeats itself, that
// task carries on the series. If not, a row keeps the series until somebody sets it to PLAN.
func TestASeriesWhoseRetryIsSupersededGoesOn(t *testing.T) {
	t.Parallel()
	for name, repeat := range map[string]string{"by a one-shot": "0", "by another definition": "2 hours"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			id := s.add("input, key, retry, repeat", "SELECT pg_sleep(0.3); SELECT 1/0", "job", 1, "1 hour")
			s.becomes(id, "WORK")
			other := s.add("input, key, plan, repeat", "SELECT 1", "job", "infinity", repeat)
			s.becomes(id, "GONE")
			if repeat != "0" {
				if next := s.get("SELECT next = $2 FROM task WHERE id = $1", id, other); next != "true" {
					t.Error(s.row(id, "state, error, attempt, runs"))
				}
				return
			}
			kept := s.row(id, "(SELECT concat(n.state, ' ', n.repeat, ' ', n.parent = task.id, ' ', n.error) FROM task AS n WHERE n.id = task.next) AS next")
			if !strings.Contains(kept, "GONE 01:00:00 t ERROR:  superseded by task") {
				t.Error(kept)
			}
			s.exec("DELETE FROM task WHERE id = $1", other)
			s.exec("UPDATE task SET state = 'PLAN', plan = now(), input = 'SELECT 2' WHERE id = (SELECT next FROM task WHERE id = $1)", id)
			s.eventually("2", "SELECT output FROM task WHERE id = (SELECT next FROM task WHERE id = $1)", id)
		})
	}
}

// TestARunThatWouldWaitAgainIsSuperseded: after a failure, a cut-off or a drain, by a task that
// waits or is paused.
func TestARunThatWouldWaitAgainIsSuperseded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		end   func(s *stage, id int64)
	}{
		"retry":   {"SELECT pg_sleep(0.4); SELECT 1/0", func(*stage, int64) {}},
		"cut off": {"SELECT pg_sleep(60)", func(s *stage, id int64) { s.cutOff(id) }},
		"drain":   {"SELECT pg_sleep(60)", func(s *stage, _ int64) { s.drain() }},
	} {
		for _, state := range []string{"PLAN", "STOP"} {
			t.Run(name+" by "+state, func(t *testing.T) {
				t.Parallel()
				s := play(t, func(target *Target) { target.Grace = 0 })
				id := s.add("input, key, retry", c.input, "job", 3)
				s.becomes(id, "WORK")
				other := s.add("input, key, plan, state", "SELECT 1", "job", "infinity", state)
				c.end(s, id)
				s.becomes(id, "GONE")
				if row := s.row(id, "start IS NOT NULL AND stop >= start AND wait_key IS NULL AND error LIKE 'ERROR:  superseded by task "+strconv.FormatInt(other, 10)+"%' AS told"); row != `{"told":true}` {
					t.Error(row, s.row(id, "state, error, attempt, runs"))
				}
				if left := s.state(other); left != state {
					t.Errorf("what waits is %s", left)
				}
			})
		}
	}
}

// cutOff ends the session of a run. The leader then finds the row, but no backend.
func (s *stage) cutOff(id int64) {
	s.t.Helper()
	s.exec("UPDATE task SET pid = 1 WHERE id = $1", id)
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
}

// TestRunsOfOneKeyThatAreCutOffTogether: the first waits again, and runs. It supersedes the others.
func TestRunsOfOneKeyThatAreCutOffTogether(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.installed()
	for _, repeat := range []string{"0", "0", "1 hour"} {
		servertest.Replicate(t, s.conn, `INSERT INTO task (input, "group", key, repeat, state, pid, start, attempt) VALUES ('SELECT 1', random()::text, 'job', $1::text::interval, 'WORK', 2147483647, now(), 1)`, repeat)
	}
	s.serve()
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'WORK') AND repeat = '0'")
	const told = "SELECT string_agg(concat_ws(' ', state, error), E'\\n' ORDER BY id) FROM task WHERE id <= 3"
	s.eventually("DONE\nGONE ERROR:  superseded by task 1\nGONE ERROR:  superseded by task 1", told)
	if series := s.get("SELECT concat(state, ' ', error) FROM task WHERE parent = 3"); series != "GONE ERROR:  superseded by task 1" && series != "PLAN " {
		t.Error(series)
	}
}

// TestRunsOfOneKeyThatFailTogether: one is retried, and supersedes the other.
func TestRunsOfOneKeyThatFailTogether(t *testing.T) {
	t.Parallel()
	s := play(t)
	for range 2 {
		s.becomes(s.add(`input, "group", key, retry, backoff`, "SELECT pg_sleep(0.5); SELECT 1/0", strconv.Itoa(s.count()), "job", 1, "1 day"), "WORK")
	}
	s.eventually("GONE PLAN", "SELECT string_agg(state::text, ' ' ORDER BY state::text) FROM task")
	if told := s.get("SELECT count(*) FROM task AS g JOIN task AS p ON p.state = 'PLAN' AND g.error LIKE concat('ERROR:  superseded by task ', p.id, '%division by zero%') WHERE g.state = 'GONE'"); told != "1" {
		t.Error(s.get("SELECT jsonb_agg(task) FROM task"))
	}
}

func (s *stage) count() int {
	n, err := strconv.Atoi(s.get("SELECT count(*) FROM task"))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestRunsOfOneKeyThatEndTogether: they leave one repetition, which follows both.
func TestRunsOfOneKeyThatEndTogether(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"of queries": "SELECT pg_sleep(least(0.5, extract(epoch FROM date_trunc('second', now()) + '2 s' - clock_timestamp())))",
		"of writes":  "INSERT INTO made DEFAULT VALUES; SELECT pg_sleep(extract(epoch FROM date_trunc('second', now()) + '2 s' - clock_timestamp()))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE made (n int)")
			for job := range 8 {
				for n := range 2 {
					s.becomes(s.add(`input, "group", key, repeat`, input, strconv.Itoa(10*job+n), strconv.Itoa(job), "1 hour"), "WORK", "DONE")
				}
			}
			s.eventually("0", "SELECT count(*) FROM task WHERE state = 'WORK'")
			if odd := s.get(`SELECT jsonb_agg(k) FROM (SELECT key, array_agg(concat(id, state, '>', next, error)) FROM task GROUP BY key
				HAVING count(wait_key) <> 1 OR count(DISTINCT next) <> 1 OR count(*) <> 3 OR count(*) FILTER (WHERE state = 'DONE') <> 2) AS k`); odd != servertest.Null {
				t.Error(odd)
			}
		})
	}
}

// TestNothingIsSupersededByATaskThatWaitsNoMore: the change is tried again as if the other task had
// never been there.
func TestNothingIsSupersededByATaskThatWaitsNoMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input, want string
		end         func(s *stage, id int64)
	}{
		"retry":   {"SELECT pg_sleep(0.2); SELECT 1/(current_setting('pg_task.attempt')::int - 1)", "DONE", func(*stage, int64) {}},
		"cut off": {"SELECT pg_sleep(CASE current_setting('pg_task.attempt') WHEN '1' THEN 60 ELSE 0 END)", "DONE", func(s *stage, id int64) { s.cutOff(id) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE SEQUENCE once")
			s.exec(`CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
				IF OLD.state = 'WORK' AND NEW.state = 'PLAN' AND nextval('public.once') = 1 THEN
					RAISE unique_violation USING CONSTRAINT = 'pgtaskd_wait_key_of_one_that_is_gone';
				END IF;
				RETURN NEW; END$$; CREATE TRIGGER taken BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION taken()`)
			id := s.add("input, key, retry, backoff", c.input, "job", 1, "10 ms")
			s.becomes(id, "WORK")
			c.end(s, id)
			s.becomes(id, c.want, "GONE")
			if state := s.state(id); state != c.want {
				t.Error(s.row(id, "state, error, attempt, runs"))
			}
		})
	}
}
