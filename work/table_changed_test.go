package work

import (
	"fmt"
	"testing"
)

// TestAColumnThatWasOfAnotherTypeForAWhile: later tasks are not affected. Meanwhile a task runs, so
// the leader still has an end to write.
func TestAColumnThatWasOfAnotherTypeForAWhile(t *testing.T) {
	t.Parallel()
	s := play(t)
	running := s.add("input", "SELECT pg_advisory_lock(7)")
	s.exec("SELECT pg_advisory_lock(7)")
	s.becomes(running, "WORK")
	s.exec("ALTER TABLE task ALTER id TYPE numeric")
	s.says("numeric")
	waiting := s.add("input, priority", "SELECT 1", 0) // with a statement of its own
	s.exec("ALTER TABLE task ALTER id TYPE bigint; SELECT pg_advisory_unlock(7)")
	s.becomes(running, "DONE")
	s.becomes(waiting, "DONE")
}

// TestTasksOutliveAColumn: the owner drops or renames a column while tasks run whose repetitions
// copy it. The tasks run again, and none FAILs, whatever role they run as.
func TestTasksOutliveAColumn(t *testing.T) {
	t.Parallel()
	const many = 6
	for _, does := range []string{"DROP COLUMN mine", "RENAME COLUMN mine TO ours"} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			c := employed(t)
			c.exec("CREATE TABLE gate (); GRANT ALL ON gate TO PUBLIC; ALTER TABLE task ADD COLUMN mine int DEFAULT 5")
			c.must(c.alice, "CREATE TABLE effect (id int8)")
			lock, owner := c.connect(), c.connect()
			c.on(lock, "BEGIN; LOCK TABLE gate")
			var ids []int64
			for i := range many {
				ids = append(ids, c.asks(c.alice, fmt.Sprintf("INSERT INTO effect VALUES (%d); SELECT FROM gate", i), `"delete", repeat, "group"`, fmt.Sprintf("false, '1 day', 'g%d'", i)))
			}
			waits := "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) WHERE a.usename = $1 AND NOT l.granted AND l.relation = $2::regclass"
			c.eventually(fmt.Sprint(many), waits, c.alice, "gate")
			c.on(owner, "BEGIN; ALTER TABLE task "+does)
			c.on(lock, "COMMIT")
			c.says("locked by pid")
			c.on(owner, "COMMIT")
			for _, id := range ids {
				c.becomes(id, "DONE", "FAIL")
				if end := c.row(id, "state, error, next IS NOT NULL AS goes_on"); end != `{"state":"DONE","error":null,"goes_on":true}` {
					t.Error(end)
				}
			}
			if n := c.get("SELECT string_agg(id::text, '' ORDER BY id) FROM effect"); n != "012345" {
				t.Error("effects: ", n)
			}
		})
	}
}
