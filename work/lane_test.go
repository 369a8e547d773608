package work

import (
	"bytes"
	"testing"
)

// TestTasksReadBehindALongOneStart: they were read before their turn, and waited for longer than
// rows stay in memory.
func TestTasksReadBehindALongOneStart(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (input, "group") SELECT CASE i WHEN 1500 THEN 'SELECT pg_sleep(3.5)' ELSE 'SELECT ' || i END, 'one' FROM generate_series(1, 2500) AS i`)
	s.eventually("2500", "SELECT count(*) FROM task WHERE state = 'DONE'")
}

// TestALongGroupNeedNotFitIntoAStartupPacket: a task sees the whole name of its group.
func TestALongGroupNeedNotFitIntoAStartupPacket(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add(`input, "group"`, "SELECT length(current_setting('pg_task.group'))", string(bytes.Repeat([]byte("g"), 20_000)))
	s.becomes(id, "DONE")
	if row := s.row(id, "output"); row != `{"output":"20000"}` {
		t.Error(row)
	}
}
