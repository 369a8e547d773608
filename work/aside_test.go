//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/tasktest"
)

// TestManyEndsThatMeetALockStopNothingElse: however many ends, marks and tasks of an old leader
// wait for what a stranger has locked, and whatever that is, other tasks start and end at once, and
// who may have the lock is named. All end when it is gone.
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

// TestOrphansThatMeetALock keep no place, since their backends are gone. They can be stopped, and
// beats of cron are found beside them. Who may have the lock is named. When it is gone they run.
func TestOrphansThatMeetALock(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(map[string]struct{ lock, commit string }{
		"keys":          {"INSERT INTO task (key, plan, input, \"group\") SELECT 'k' || i, 'infinity', '', 'zz' FROM generate_series(1, 20) AS i", "ROLLBACK"},
		"rows":          {"SELECT FROM task WHERE data = 'locked' FOR UPDATE", "COMMIT"},
		"prepared rows": {"UPDATE task SET data = 'locked' WHERE data = 'locked'", "ROLLBACK PREPARED"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, tasktest.Database(t), func(t *Target) { t.Run = 4 })
			s.exec("ALTER TABLE task DISABLE TRIGGER USER; INSERT INTO task (key, \"group\", data, delete, input, state, pid, start, rerun) " +
				"SELECT 'k' || i, 'g' || i, 'locked', false, 'SELECT 1', 'WORK', 1, now(), true FROM generate_series(1, 20) AS i; ALTER TABLE task ENABLE TRIGGER USER")
			other, end := s.connect(), c.commit
			s.on(other, "BEGIN; "+c.lock)
			called := fmt.Sprintf("pid %d ", other.PgConn().PID())
			if strings.Contains(end, "PREPARED") {
				gid := s.target.Connect["dbname"]
				s.on(other, "PREPARE TRANSACTION '"+gid+"'")
				called, end = "ROLLBACK PREPARED", end+" '"+gid+"'"
			}
			s.serve()
			s.settled()
			s.others()
			cron := s.add(`"group", cron, input`, "beats", "* * * * * *", "SELECT 1")
			s.eventually("true", "SELECT count(*) > 0 FROM task WHERE parent = $1", cron)
			s.says(`"warn"`, "keeps a task's row from being changed", called)
			stopped := int64(1)
			if name == "keys" {
				s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
				s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", stopped)
			} else if name == "rows" {
				s.saysWhy(stopped, ".* locked .*")
			}
			s.on(other, end)
			s.eventually("0", "SELECT count(*) FROM task WHERE data = 'locked' AND state NOT IN ('DONE', 'STOP')")
		})
	}
}

// TestAnOrphanOnARemoteKeepsItsPlace while somebody has locked its row: whoever runs it cannot see
// that it is not theirs any more.
func TestAnOrphanOnARemoteKeepsItsPlace(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Minute })
	first := s.add(`input, remote, "group", "delete"`, "SELECT pg_sleep(8)", s.dsn, "one", false)
	behind := s.add(`input, "group", remote, "delete"`, "SELECT 2", "one", s.dsn, false)
	s.becomes(first, "WORK")
	other := stageOn(t, s.dsn)
	other.serve()
	release := s.lock(first, "FOR UPDATE")
	close(s.stop)
	other.until("another leads", func() bool { return other.leads() > 0 })
	for range 20 {
		other.marker()
	}
	if state := s.state(behind); state != "PLAN" {
		t.Error("beside a task of its lane: ", state)
	}
	release()
	s.becomes(behind, "DONE")
	s.becomes(first, "DONE")
}

// TestAnEndOutlastsALongLockInADrain: the next leader sees that somebody still has the session.
func TestAnEndOutlastsALongLockInADrain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	s := play(t, func(t *Target) { t.Grace = time.Minute })
	s.exec("CREATE TABLE effect ()")
	id := s.add("input, rerun", "INSERT INTO effect DEFAULT VALUES; COMMIT; SELECT pg_sleep(1)", false)
	s.becomes(id, "WORK")
	release := s.lock(id, "FOR UPDATE")
	other := stageOn(t, s.dsn)
	other.serve()
	close(s.stop)
	other.settled()
	s.eventually("true", `SELECT a.state_change - t.start > interval '13 s' FROM task AS t
		JOIN pg_stat_activity AS a ON a.pid = t.pid`) // sessions that stand still are ended after 10 s
	release()
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, error, (SELECT count(*) FROM effect) AS effects"); row != `{"attempt":1,"error":null,"effects":1}` {
		t.Error(row)
	}
}

// TestADrainDoesNotWaitForALockOfAStranger: where nothing of a task is committed, another leader may
// run it again.
func TestADrainDoesNotWaitForALockOfAStranger(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Grace = time.Minute })
	s.installed()
	s.exec("CREATE TABLE account (id int PRIMARY KEY); INSERT INTO account VALUES (1); ALTER TABLE task ADD account int REFERENCES account")
	s.serve()
	s.settled()
	id := s.add("input, repeat, account, plan", "SELECT 1/0", "1 day", 1, time.Now().Add(time.Second))
	stranger := s.connect()
	s.on(stranger, "BEGIN; SELECT FROM account FOR UPDATE")
	s.says("keeps a task's row from being changed")
	other := stageOn(t, s.dsn)
	other.serve()
	s.drain()
	other.settled()
	other.others()
	s.on(stranger, "COMMIT")
	s.becomes(id, "FAIL")
	if row := s.row(id, "attempt, (SELECT count(*) FROM task AS n WHERE n.parent = task.id) AS next"); row != `{"attempt":1,"next":1}` {
		t.Error(row)
	}
}

// TestATaskThatMeetsALockOfOthersIsTriedItself: beside many that wait for a lock of a stranger's it is
// not taken for one of them.
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
