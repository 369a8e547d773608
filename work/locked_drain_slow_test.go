//go:build slow

package work

import (
	"testing"
	"time"
)

// TestAnEndOutlastsALongLockInADrain: the next leader sees that the session is still in use.
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
		JOIN pg_stat_activity AS a ON a.pid = t.pid`) // idle sessions are ended after 10 s
	release()
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, error, (SELECT count(*) FROM effect) AS effects"); row != `{"attempt":1,"error":null,"effects":1}` {
		t.Error(row)
	}
}

// TestADrainDoesNotWaitForALockOfAStranger: nothing of the task is committed, so another leader may
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

// TestLockedAtDrain: a locked row does not keep the controller from ending.
func TestLockedAtDrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Second })
	odd := s.add("input", "SELECT pg_sleep(0.4); SELECT 1/0")
	s.becomes(odd, "WORK")
	defer s.lock(odd, "FOR UPDATE")()
	s.quiet()
	s.drain()
}
