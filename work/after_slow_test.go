//go:build slow

package work

import "testing"

// long is the after of a task that waits for ten thousand deleted tasks and one open task.
const long = "ARRAY(SELECT generate_series(-9999, -1)) || $1::int8"

// awaitsFirst makes a row show that it waits for the task $1.
const awaitsFirst = "$1, (SELECT p.created FROM task AS p WHERE p.id = $1), 'infinity'"

// TestOthersStartWhileLongAftersAreLookedAt: the long afters of new tasks, and those of tasks that
// wait for a task that ends.
func TestOthersStartWhileLongAftersAreLookedAt(t *testing.T) {
	if testing.Short() {
		return
	}
	s := play(t) // not in parallel: its tasks keep the machine busy
	first, second := s.add("input, plan", "SELECT 1", "infinity"), s.add("input, plan", "SELECT 1", "infinity")
	s.exec(`INSERT INTO task ("group", input, after) SELECT 'new', 'SELECT 1', `+long+" FROM generate_series(1, 600)", first)
	brief := s.successor("SELECT 1", -1)
	s.others()
	s.becomes(brief, "DONE")
	s.others()

	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed) SELECT 'old', 'SELECT 1', `+long+", "+awaitsFirst+" FROM generate_series(1, 600)", second)
	s.exec("SET session_replication_role = origin")
	s.exec("UPDATE task SET plan = now() WHERE id = $1", second)
	s.eventually("true", `SELECT count(*) > 0 FROM task WHERE "group" = 'old' AND state = 'DONE'`)
	s.others()
	s.others()
}

// TestOthersStartWhileLongAftersAreGivenUp: many tasks do not end well, and some waiting tasks name
// one of them.
func TestOthersStartWhileLongAftersAreGivenUp(t *testing.T) {
	if testing.Short() {
		return
	}
	s := play(t) // not in parallel: its tasks keep the machine busy
	gate := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("SELECT setval('task_id_seq', 10000)")
	s.eventually("1", "SELECT awaits FROM task WHERE id = $1", s.successor("SELECT 1", gate))
	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed) SELECT 'old', 'SELECT 1', `+long+", "+awaitsFirst+" FROM generate_series(1, 2000)", gate)
	s.exec(`INSERT INTO task ("group", input, after, awaits, awaited, freed, delete, priority) SELECT 'ill', 'SELECT 1', ARRAY(SELECT generate_series(1, 10000)), `+awaitsFirst+`, false, 1 FROM generate_series(1, 20)`, gate)
	s.exec("SET session_replication_role = origin")
	s.exec(`INSERT INTO task (id, input, plan, active, delete) SELECT i, 'SELECT 1', now() - interval '1 day', '1 s', false FROM generate_series(10, 1200) AS i`)
	s.others()
	s.eventually("1191", "SELECT count(*) FROM task WHERE id <= 1200 AND state = 'GONE'")
	s.others()
	s.eventually("20", `SELECT count(*) FROM task WHERE "group" = 'ill' AND state = 'GONE'`)
	s.others()
}
