package work

import (
	"strings"
	"testing"
	"time"
)

// TestTextsComeFromTheRowThatWasRead: in a partitioned table another row may have the same id. The
// task runs the SQL of its own row, with its own data, however long these are.
func TestTextsComeFromTheRowThatWasRead(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (what text)")
	long := strings.Repeat("x", 9000)
	for _, elsewhere := range []string{"2020-01-01", "2222-01-01"} { // in partitions before and after it
		s.exec("TRUNCATE effect")
		id := s.add("input, data, plan", "INSERT INTO effect VALUES (left(current_setting('pg_task.data'), 4)); SELECT 1 --"+long, "mine"+long, time.Now().Add(time.Second))
		s.exec("INSERT INTO task (id, input, data, plan, state) VALUES ($1, 'INSERT INTO effect VALUES (''other'')', 'other', $2, 'STOP')", id, elsewhere)
		s.eventually("mine", "SELECT string_agg(what, ' ') FROM effect")
		s.eventually("DONE", "SELECT state FROM task WHERE id = $1 AND data LIKE 'mine%'", id)
	}
}

// TestAnotherRowOfTheSameIDHarmsNoTask: in a partitioned table somebody may insert a row with the
// id of a running task. The task goes on, runs once and ends. Then the other row has its turn.
func TestAnotherRowOfTheSameIDHarmsNoTask(t *testing.T) {
	t.Parallel()
	for name, plans := range someOf(map[string][2]string{
		"in a partition before": {"2022-06-01", "2020-06-01"},
		"in a partition behind": {"2020-06-01", "2022-06-01"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			must(t, s.conn, parts)
			s.exec("CREATE SEQUENCE runs; SELECT pg_advisory_lock(7)")
			s.serve()
			s.settled()
			id := s.add(`input, plan, active`, "SELECT nextval('runs'), pg_advisory_xact_lock_shared(7)", plans[0], "100 years")
			s.becomes(id, "WORK")
			s.exec("INSERT INTO task (id, input, plan, active) VALUES ($1, 'SELECT 1', $2, '100 years')", id, plans[1])
			for range 2 { // each stop makes the leader look at all running tasks
				stopped := s.add(`input, "group"`, "SELECT pg_sleep(100)", "other")
				s.becomes(stopped, "WORK")
				s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
				s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", stopped)
			}
			if got := s.get("SELECT string_agg(state || ' ' || attempt, ', ' ORDER BY state DESC) || ', ' || (SELECT last_value FROM runs) FROM task WHERE id = $1", id); got != "WORK 1, PLAN 0, 1" {
				t.Error("while it runs: ", got)
			}
			s.exec("SELECT pg_advisory_unlock(7)")
			s.eventually("DONE 1 0, DONE 1 0", "SELECT string_agg(concat_ws(' ', state, attempt, interrupted), ', ') FROM task WHERE id = $1", id)
			if runs := s.get("SELECT last_value FROM runs"); runs != "1" {
				t.Errorf("it has run %s times", runs)
			}
			s.others()
		})
	}
}
