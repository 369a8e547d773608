package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestAFreedIDHoldsUpNoSuccessor: a task that ended without output is deleted, and somebody may
// insert another row with its id. A successor of the deleted task neither waits for that row nor
// ends because of it. This holds while the successor waits for other tasks, and when it runs again.
func TestAFreedIDHoldsUpNoSuccessor(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]string{
		"one that fails":      "(id, input) VALUES ($1, 'SELECT 1/0')",
		"one that waits":      "(id, input, plan) VALUES ($1, 'SELECT 1', 'infinity')",
		"one that is stopped": "(id, input, state, stop) VALUES ($1, 'SELECT 1', 'STOP', now())",
		"one from before":     "(id, input, plan, created) VALUES ($1, 'SELECT 1', 'infinity', '2020-01-01')",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			freed, waited := s.add(`input, plan`, "SELECT 1 WHERE false", "infinity"), s.add("input, plan, delete", "SELECT 1", "infinity", false)
			var behind []int64
			for range 6 { // each chooses at random which of the two it waits for first
				behind = append(behind, s.successor("SELECT 1", freed, waited), s.successor("SELECT 1", waited, freed))
			}
			s.eventually("12", "SELECT count(*) FROM task WHERE awaits IS NOT NULL")
			s.exec("UPDATE task SET plan = now() WHERE id = $1", freed)
			s.eventually("0", "SELECT count(*) FROM task WHERE id = $1", freed)
			s.exec("INSERT INTO task "+row, freed)
			s.exec("UPDATE task SET plan = now() WHERE id = $1", waited)
			for _, id := range behind {
				s.becomes(id, "DONE")
			}
			s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", behind[0])
			s.eventually("DONE 1", "SELECT concat_ws(' ', state, jsonb_array_length(runs)) FROM task WHERE id = $1", behind[0])
			// After the change, the id means the row that has it now.
			s.exec("UPDATE task SET state = 'PLAN', after = $2 WHERE id = $1", behind[0], []int64{freed})
			s.eventually("true", "SELECT awaits = $2 OR error LIKE '%after which%' FROM task WHERE id = $1", behind[0], freed)
		})
	}
}

// TestAChangedAfterIsLookedAtAgain: also where old triggers do not know the column met.
func TestAChangedAfterIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	s := play(t)
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	behind := s.successor("SELECT 1", first)
	s.eventually("true", "SELECT awaits = $2 FROM task WHERE id = $1", behind, first)
	s.exec("SET session_replication_role = replica")
	s.exec("UPDATE task SET after = $2, awaits = NULL, freed = NULL WHERE id = $1", behind, []int64{second})
	s.exec("RESET session_replication_role")
	s.eventually("true", "SELECT awaits = $2 AND met[1] = (SELECT p.created FROM task AS p WHERE p.id = $2) FROM task WHERE id = $1", behind, second)
	s.exec("UPDATE task SET after = $2 WHERE id = $1", behind, []int64{first})
	s.eventually("true", "SELECT awaits = $2 AND met[1] = (SELECT p.created FROM task AS p WHERE p.id = $2) FROM task WHERE id = $1", behind, first)
	s.exec("DELETE FROM task WHERE id = $1", first)
	s.becomes(behind, "DONE")
}

// TestAnotherRowOfTheSameIDHoldsUpNoSuccessor: nor does it end a successor. If several rows have
// the id that a task names, the task waits for the oldest row.
func TestAnotherRowOfTheSameIDHoldsUpNoSuccessor(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.exec("SELECT pg_advisory_lock(7)")
	s.serve()
	s.settled()
	for _, row := range []string{
		"(id, state, plan, stop, input) VALUES ($first, 'FAIL', 'infinity', now(), '')", "(id, state, plan, stop, input) VALUES ($first, 'GONE', '2020-01-01', now(), '')",
		"(id, plan, input) VALUES ($first, 'infinity', '')", "(id, plan, after, input) VALUES ($first, '2020-01-01', ARRAY[$behind::int8], '')",
		"(id, state, plan, stop, input) VALUES ($first, 'DONE', '2020-01-01', now(), '')",
	} {
		first := s.add(`input, "group"`, "SELECT pg_advisory_xact_lock_shared(7)", "real")
		s.becomes(first, "WORK")
		behind := s.add(`input, "group", after`, "SELECT 1", "behind", []int64{first})
		s.eventually("true", "SELECT awaits = $1 FROM task WHERE id = $2", first, behind)
		s.exec("INSERT INTO task " + strings.NewReplacer("$first", fmt.Sprint(first), "$behind", fmt.Sprint(behind)).Replace(row))
		one, other := s.add("input, plan", "SELECT 1", "infinity"), int64(0)
		other = s.add("input, after", "SELECT 1", []int64{one})
		s.exec("UPDATE task SET after = ARRAY[$2::int8] WHERE id = $1", one, other)
		// All waiting tasks have been looked at.
		s.eventually("2", "SELECT count(*) FROM task WHERE id IN ($1, $2) AND error LIKE '%cycle%'", one, other)
		if got := s.get("SELECT concat_ws(' ', state, error) FROM task WHERE id = $1", behind); got != "PLAN" {
			t.Error(row, " before the end: ", got)
		}
		s.exec("SELECT pg_advisory_unlock(7)")
		s.eventually("DONE", `SELECT state FROM task WHERE id = $1 AND "group" = 'real'`, first)
		s.becomes(behind, "DONE")
		s.exec("SELECT pg_advisory_lock(7)")
	}
}

// TestARoleWaitsForItsOwnTask: if several tasks have the id that a task names, it waits for the one
// of its own role.
func TestARoleWaitsForItsOwnTask(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	c := founded(t, func(c *company) {
		c.must("postgres", parts+"; ALTER TABLE task OWNER TO $serving; ALTER TABLE p1 OWNER TO $serving; ALTER TABLE p2 OWNER TO $serving; ALTER TABLE p3 OWNER TO $serving; ALTER TABLE p4 OWNER TO $serving")
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob; GRANT $bob TO $serving"))
	first := c.asks(c.alice, "SELECT 1", "plan", "'infinity'")
	behind := c.asks(c.alice, "SELECT 1", "after", fmt.Sprintf("'{%d}'", first), `"delete"`, "false")
	c.must(c.bob, fmt.Sprintf("INSERT INTO task (id, input, plan, active, created) VALUES (%d, 'SELECT 1', '2020-01-01', '1 s', '2020-01-01')", first))
	c.eventually("GONE", "SELECT state FROM task WHERE id = $1 AND role = $2", first, c.bob)
	c.must(c.alice, fmt.Sprintf("UPDATE task SET plan = now() WHERE id = %d AND role = current_user", first))
	c.becomes(behind, "DONE")
}
