package work

import "testing"

// TestSaveKeepsItsStateBesideOtherLanes: the session of a lane goes to no other lane while another
// session can be had.
func TestSaveKeepsItsStateBesideOtherLanes(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (save, "group", input, max) VALUES (true, 'saves', 'CREATE TEMP TABLE mine (n int8)', 0)`)
	s.exec(`INSERT INTO task (save, "group", input, priority)
		SELECT lane = 'saves', lane, CASE lane WHEN 'saves' THEN 'INSERT INTO mine VALUES (1)' ELSE 'SELECT 1' END, 0
		FROM generate_series(1, 100), unnest('{saves,one,two,three}'::text[]) AS lane`)
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
	if n := s.get("SELECT count(*) FROM task WHERE state = 'FAIL'"); n != "0" {
		t.Error(n, "tasks have failed: ", s.get("SELECT min(error) FROM task WHERE state = 'FAIL'"))
	}
}

// TestSaveLosesItsStateOnlyToWant: where no other session can be had, other lanes take it.
func TestSaveLosesItsStateOnlyToWant(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 1 })
	s.exec(`INSERT INTO task (save, "group", input) VALUES (true, 'saves', 'CREATE TEMP TABLE mine (n int8)')`)
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'DONE'")
	s.exec(`INSERT INTO task ("group", input) VALUES ('other', 'SELECT 1')`)
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'DONE'")
}
