//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/tasktest"
)

// TestOrphansThatMeetALock: they use no slot, since their backends are gone. They can be stopped,
// and cron tasks go on beside them. The log names the role that has the lock. When the lock is
// gone, the tasks run.
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

// TestAnOrphanOnARemoteKeepsItsPlace: while somebody has locked its row. The old controller that
// runs it cannot see that the task is no longer its own.
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

// TestTableLockedBesideStandby: the leader keeps the lead while its table is locked. Another
// controller would meet the same lock, and could not know how the tasks that ran meanwhile have
// ended.
func TestTableLockedBesideStandby(t *testing.T) {
	t.Parallel()
	s := play(t)
	own := s.add("input, rerun", "BEGIN; SELECT 1; COMMIT; SELECT pg_sleep(1)", false)
	s.becomes(own, "WORK")
	leader := s.get("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND mode = 'ExclusiveLock' ORDER BY pid LIMIT 1")
	s.serve()
	s.until("standby", func() bool { return strings.Contains(s.logged(), "standing by") })
	tx, err := s.connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE task"); err != nil {
		t.Fatal(err)
	}
	s.until("failures", func() bool { return strings.Contains(s.logged(), "is locked by") })
	if _, err := tx.Exec(t.Context(), "SELECT pg_sleep(4)"); err != nil { // longer than the lock limit, again
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(own, "DONE")
	if row := s.row(own, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
	if now := s.get("SELECT pid FROM pg_stat_activity WHERE pid = $1", leader); now != leader {
		t.Error("the leader is gone")
	}
	if n := s.leads(); n > 2 { // it says so again after the recovery
		t.Errorf("led %d times", n)
	}
}
