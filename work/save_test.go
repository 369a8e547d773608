package work

import (
	"fmt"
	"testing"
)

// TestSaveKeepsItsStateBesideOtherLanes: each task with save finds what the task before it left in
// its session, and nothing if that was a task of another lane. Which session a task gets is not
// promised.
func TestSaveKeepsItsStateBesideOtherLanes(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (save, "group", input)
		SELECT lane = 'saves', lane, CASE lane WHEN 'saves' THEN
			'CREATE TEMP TABLE IF NOT EXISTS mine (n int8); INSERT INTO mine VALUES (1); SELECT count(*) FROM mine' ELSE 'SELECT 0' END
		FROM generate_series(1, 100), unnest('{saves,one,two,three}'::text[]) AS lane`)
	s.eventually("400", "SELECT count(*) FROM task WHERE state = 'DONE'")
	const kept = `SELECT %s FROM (SELECT "group", substring(output FROM '\d+$')::int4 AS n,
			lag("group") OVER session AS before, lag(substring(output FROM '\d+$')::int4) OVER session AS was
		FROM task WINDOW session AS (PARTITION BY pid ORDER BY start, id)) AS t WHERE "group" = 'saves' AND %s`
	if wrong := s.get(fmt.Sprintf(kept, "count(*)", "n <> CASE before WHEN 'saves' THEN was + 1 ELSE 1 END")); wrong != "0" {
		t.Error(wrong, " tasks have found something else")
	}
	if n := s.get(fmt.Sprintf(kept, "count(*)", "before = 'saves'")); n == "0" {
		t.Error("no task has found the state of the one before it")
	}
}

// TestAnotherLaneTakesASessionWithStateWhereThereIsNoOther: state is no reason to wait.
func TestAnotherLaneTakesASessionWithStateWhereThereIsNoOther(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 1 })
	s.exec(`INSERT INTO task (save, "group", input) VALUES (true, 'saves', 'CREATE TEMP TABLE mine (n int8)')`)
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'DONE'")
	s.exec(`INSERT INTO task ("group", input) VALUES ('other', 'SELECT 1')`)
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'DONE'")
}
