package work

import (
	"fmt"
	"testing"
)

// TestIdsBelowOne: tasks with these ids run as others do, also with a cron or an after.
func TestIdsBelowOne(t *testing.T) {
	t.Parallel()
	s := play(t, inBerlin)
	const least = "-9223372036854775808"
	s.exec("INSERT INTO task (id, input) VALUES (-5, 'SELECT 1'), (0, 'SELECT 1')")
	s.exec("INSERT INTO task (id, input, cron) VALUES (-30, 'SELECT 1', '@hourly'), (" + least + ", 'SELECT 1', '@hourly')")
	s.exec("INSERT INTO task (id, input, after) VALUES (-3, 'SELECT 1', '{-5,0}')")
	s.becomes(-3, "DONE")
	s.eventually("2", "SELECT count(*) FROM task WHERE id IN (-30, "+least+") AND state = 'PLAN' AND plan = date_trunc('hour', created) + interval '1 hour' AND origin IS NULL")
}

// TestARepetitionTakesAnotherIDWhenItsIsTaken: somebody has inserted a row with that id.
func TestARepetitionTakesAnotherIDWhenItsIsTaken(t *testing.T) {
	t.Parallel()
	s := play(t)
	for i, input := range []string{"SELECT 1", "CREATE TABLE effect ()", "SELECT 1/0"} {
		id := s.add(`input, repeat, plan, "group"`, input, "1 day", "infinity", fmt.Sprint("g", i))
		s.exec("INSERT INTO task (id, input, plan) SELECT i, '', 'infinity' FROM generate_series($1::int8 + 1, $1 + 50) AS i", id)
		s.exec("UPDATE task SET plan = now() - interval '1 min' WHERE id = $1", id)
		s.eventually("true", "SELECT next IS NOT NULL FROM task WHERE id = $1", id)
		if next := s.get("SELECT t.next > t.id + 50 AND n.parent = t.id AND n.state = 'PLAN' FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1", id); next != "true" {
			t.Error(input, next)
		}
		s.exec("SELECT setval('task_id_seq', (SELECT max(id) FROM task))")
	}
}
