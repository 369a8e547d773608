package read

import (
	"strconv"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestLooksStayCheap: the statement finds the next plan without reading all later tasks, even if
// the server planned the statement when the table was empty.
func TestLooksStayCheap(t *testing.T) {
	t.Parallel()
	s := staged(t)
	for range 10 {
		s.does(s.scan.Begin)
	}
	s.Exec("INSERT INTO task (input, plan) SELECT 'SELECT 1', statement_timestamp() + interval '1 day' FROM generate_series(1, 2000)")
	conn := s.scan.Control.Conn()
	servertest.Exec(t, conn, "BEGIN")
	s.does(s.scan.Begin)
	var read int
	if err := conn.QueryRow(t.Context(), "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = $1::regclass",
		"public.task").Scan(&read); err != nil || read > 10 {
		t.Error(read, err)
	}
	servertest.Exec(t, conn, "COMMIT")
	if s.scan.looks.next.IsZero() {
		t.Error("nothing is to come")
	}
}

// TestOthersStartWhileAScanIsUnderWay: the leader reads tasks that are inserted or become due
// during a scan before the scan has ended.
func TestOthersStartWhileAScanIsUnderWay(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', 'g' || i % 7, now() - interval '30 min' FROM generate_series(1, 45000) AS i`)
	due := s.Add(`input, "group", plan`, "SELECT 1", "due", time.Now().Add(time.Second))
	s.scan.place = s.scan.startAll()
	s.does(s.scan.nextPart)
	id, tasks := s.Add(`input, "group"`, "SELECT 1", "others"), s.scan.Tasks
	servertest.Wait(t, 25*time.Second, "due", func() bool { return s.scan.Clock.Until(s.scan.looks.next) <= 0 })
	s.scan.Changes.Want()
	for (tasks[id] == nil || tasks[due] == nil) && s.scan.Active() {
		s.does(s.scan.Step)
		s.does(s.prefetch.Step)
	}
	if tasks[id] == nil || tasks[due] == nil || !s.scan.Active() {
		t.Error("others are read: ", tasks[id] != nil, tasks[due] != nil, ", the scan is under way: ", s.scan.Active())
	}
	for s.scan.Changes.Looks(); s.scan.Active(); {
		s.does(s.scan.Step)
	}
	if n := s.Get("SELECT count(*) FROM task"); n != strconv.Itoa(s.scan.listed()+len(tasks)) {
		t.Error(s.scan.listed(), " are known, and ", len(tasks), " read, of ", n)
	}
}

// TestADrainGivesUpTheLookUnderWay: a draining leader does not spin while its last tasks run.
func TestADrainGivesUpTheLookUnderWay(t *testing.T) {
	t.Parallel()
	s := unserved()
	s.looks.last, s.looks.full, s.place.look = time.Now(), time.Now(), all
	s.Changes.Want()
	s.GiveUp()
	if next := s.Next(true); next <= 0 || s.Pending() {
		t.Error("it looks again in ", next)
	}
}

// TestManyPausedTasksHideNothing: paused tasks are not kept in memory, so a scan finds the due
// tasks after them.
func TestManyPausedTasksHideNothing(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task_group ("group", paused) VALUES ('a', true)`)
	s.Exec(`INSERT INTO task ("group", input) SELECT 'a', 'SELECT 1' FROM generate_series(1, 100)`)
	id := s.Add("input", "SELECT 1")
	s.does(s.scan.Groups.Step)
	s.does(s.scan.Begin)
	if s.scan.listed() != 1 || s.scan.looks.held != 100 {
		t.Error("ready ", s.scan.listed(), ", held ", s.scan.looks.held)
	}
	if ids := s.scan.Lanes.Choose(10); len(ids) != 1 || ids[0] != id {
		t.Error("chosen ", ids)
	}
}
