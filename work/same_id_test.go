package work

import (
	"strings"
	"testing"
	"time"
)

// TestTextsComeFromTheRowThatWasRead: in a partitioned table another row may have the same id; what
// runs is the SQL of the row that runs, with its own data, however long these are.
func TestTextsComeFromTheRowThatWasRead(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (what text)")
	long := strings.Repeat("x", prefetchText+1000)
	for _, elsewhere := range []string{"2020-01-01", "2222-01-01"} { // in partitions before and behind
		s.exec("TRUNCATE effect")
		id := s.add("input, data, plan", "INSERT INTO effect VALUES (left(current_setting('pg_task.data'), 4)); SELECT 1 --"+long, "mine"+long, time.Now().Add(time.Second))
		s.exec("INSERT INTO task (id, input, data, plan, state) VALUES ($1, 'INSERT INTO effect VALUES (''other'')', 'other', $2, 'STOP')", id, elsewhere)
		s.eventually("mine", "SELECT string_agg(what, ' ') FROM effect")
		s.eventually("DONE", "SELECT state FROM task WHERE id = $1 AND data LIKE 'mine%'", id)
	}
}
