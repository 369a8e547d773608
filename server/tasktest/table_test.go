package tasktest

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/sql/schema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestTasksAreAddedAndRead: a task shows what it was inserted with, and its state.
func TestTasksAreAddedAndRead(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, servertest.Database(t))
	tasks := Make(t, conn, schema.Options{})
	id := tasks.Add("input, priority", "SELECT 1", 7)
	if row := tasks.Row(id); row.Text("input") != "SELECT 1" || row.Text("priority") != "7" || row.Text("output") != servertest.Null {
		t.Error(row)
	}
	if shown := tasks.JSON(id, "priority + 1 AS more, output"); shown != `{"more":8,"output":null}` {
		t.Error(shown)
	}
	tasks.Becomes(time.Second, id, "WORK", "PLAN")
	if states := servertest.Values(t, conn, "DELETE FROM task RETURNING state"); len(states) != 1 || states[0] != "PLAN" {
		t.Error(states)
	}
	if state := tasks.State(id); state != "" || tasks.Row(id) != nil {
		t.Error("it is gone, and yet ", state)
	}
	tasks.Becomes(time.Second, id, "")
}

// TestAWaitInVainEnds, whatever the condition.
func TestAWaitInVainEnds(t *testing.T) {
	t.Parallel()
	looks := 0
	if servertest.Comes(20*time.Millisecond, func() bool { looks++; return false }) || looks < 2 {
		t.Error("after ", looks, " looks")
	}
}
