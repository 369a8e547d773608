//go:build slow

package work

import (
	"fmt"
	"testing"
)

// TestManyEndsThatMeetALockStopNothingElse: many ends, marks and tasks of an old leader wait for a
// stranger's lock. Other tasks start and end at once, and the log names the role that has the lock.
// When the lock is gone, all end.
func TestManyEndsThatMeetALockStopNothingElse(t *testing.T) {
	t.Parallel()
	const many = 40 // ends; clogged from 4 * Run on
	for name, c := range someOf(map[string]struct{ columns, before, lock, locked, ended string }{
		"keys of tasks that repeat": {
			"key, repeat, input", "'k' || i, '1 day', 'SELECT pg_sleep(0.5); SELECT 1/0'",
			"INSERT INTO task (key, plan, input, \"group\") SELECT key, 'infinity', '', 'zz' FROM task WHERE state = 'WORK' ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO NOTHING",
			"SELECT count(*) FROM task WHERE \"group\" = 'zz'", "FAIL",
		},
		"keys of heavy ends": {
			"key, repeat, input", "'k' || i, '1 day', 'SELECT pg_sleep(0.5); SELECT repeat(''x'', 100000); SELECT 1/0'",
			"INSERT INTO task (key, plan, input, \"group\") SELECT key, 'infinity', '', 'zz' FROM task WHERE state = 'WORK' ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO NOTHING",
			"SELECT count(*) FROM task WHERE \"group\" = 'zz'", "FAIL",
		},
		"what a column of the user's refers to": {
			"repeat, input", "'1 day', 'SELECT 1/0'", "SELECT FROM account FOR UPDATE", "SELECT 40", "FAIL",
		},
		"the same, before the start": {
			"repeat, overlap, input", "'1 day', true, 'SELECT 1'", "SELECT FROM account FOR UPDATE", "SELECT 40", "DONE",
		},
		"rows": {
			"input", "'SELECT pg_sleep(0.5)'", "SELECT FROM task WHERE state = 'WORK' FOR UPDATE SKIP LOCKED",
			"SELECT count(*) FROM task WHERE state = 'WORK' AND xmax <> '0'", "DONE",
		},
		"rows, before the start": {
			"rerun, input", "false, 'SELECT pg_sleep(0.5)'", "SELECT FROM task WHERE data = 'locked' FOR UPDATE", "SELECT 40", "DONE",
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(t *Target) { t.Run = 4 })
			s.exec("CREATE TABLE account (id int4 PRIMARY KEY); INSERT INTO account VALUES (1); ALTER TABLE task ADD account int4 DEFAULT 1 REFERENCES account")
			s.exec(fmt.Sprintf(`INSERT INTO task ("group", plan, data, delete, %s) SELECT 'g' || i, 'infinity', 'locked', false, %s FROM generate_series(1, %d) AS i`, c.columns, c.before, many))
			other := s.connect()
			s.exec("ALTER TABLE task ALTER account SET DEFAULT NULL; UPDATE task SET plan = now() + '1 s' WHERE data = 'locked'")
			s.on(other, "BEGIN")
			s.until("many to be locked", func() bool {
				s.on(other, c.lock)
				var n int
				if err := other.QueryRow(t.Context(), c.locked).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n > many/2
			}, func() string {
				return s.get("SELECT string_agg(concat(state, ' ', xmax), ',') FROM task WHERE data = 'locked' AND parent IS NULL")
			})
			s.says(`"warn"`, "keeps a task's row from being changed", fmt.Sprintf("pid %d ", other.PgConn().PID()))
			for range 3 {
				s.marker()
			}
			s.on(other, "ROLLBACK")
			s.eventually("40", "SELECT count(*) FROM task WHERE data = 'locked' AND parent IS NULL AND attempt = 1 AND state = '"+c.ended+"'")
		})
	}
}

// TestATaskThatMeetsALockOfOthersIsTriedItself: many tasks wait for a stranger's lock. A task that
// does not need that lock is not held up with them.
func TestATaskThatMeetsALockOfOthersIsTriedItself(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.installed()
	s.exec("CREATE TABLE account (id int PRIMARY KEY); INSERT INTO account VALUES (1); ALTER TABLE task ADD account int REFERENCES account")
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task ("group", input, repeat, overlap, account, "delete", plan)
		SELECT 'g' || i, 'SELECT 1', '1 day', true, 1, false, now() + '1 s' FROM generate_series(1, 8) AS i`)
	stranger := s.connect()
	s.on(stranger, "BEGIN; SELECT FROM account FOR UPDATE")
	s.exec(`INSERT INTO task ("group", input, key, repeat, "delete", plan)
		SELECT 'i' || i, 'SELECT 1', 'k' || i, (i % 2) * interval '1 day', false, now() + '1 s' FROM generate_series(1, 4) AS i`)
	s.eventually("4", `SELECT count(*) FROM task WHERE "group" LIKE 'i%' AND state = 'DONE'`)
	s.on(stranger, "COMMIT")
	s.eventually("0", `SELECT count(*) FROM task WHERE account = 1 AND parent IS NULL AND state <> 'DONE'`)
}

// TestASeriesOutlastsALockInAnIndex: somebody's open transaction has inserted an id or a key, and
// holds up the repetition of a task for longer than any try to write it. The end waits for the
// transaction.
func TestASeriesOutlastsALockInAnIndex(t *testing.T) {
	t.Parallel()
	for name, blocks := range someOf(map[string]string{
		"id":  "INSERT INTO task (id, input, plan) SELECT (SELECT last_value FROM task_id_seq) + i, 'SELECT 1', 'infinity' FROM generate_series(1, 1000) AS i",
		"key": "INSERT INTO task (id, key, input, plan) VALUES (-1, 'job', 'SELECT 1', 'infinity')",
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			id := s.add("input, key, repeat", "DO $$BEGIN PERFORM pg_sleep(0.5); RAISE 'end'; END$$", "job", "1 hour")
			s.becomes(id, "WORK")
			other := s.connect()
			must(t, other, "BEGIN")
			must(t, other, blocks)
			s.says("keeps a task's row from being changed", fmt.Sprintf("pid %d ", other.PgConn().PID()))
			since := s.get("SELECT clock_timestamp()")
			// An error that seems to come from a trigger is given up after 16 s.
			s.eventually("true", "SELECT clock_timestamp() > $1::timestamptz + interval '21 s'", since)
			must(t, other, "ROLLBACK")
			s.eventually("FAIL t", "SELECT concat(t.state, ' ', n.state = 'PLAN') FROM task AS t LEFT JOIN task AS n ON n.id = t.next WHERE t.id = $1", id)
			s.others()
		})
	}
}
