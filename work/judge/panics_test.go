package judge

import (
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work/run"
)

// TestTasksAtWhichARunnerHasPanicked: they never run again, and their rows show why.
func TestTasksAtWhichARunnerHasPanicked(t *testing.T) {
	t.Parallel()
	s := staged(t)
	var tasks []*run.Task
	for range 2 {
		row := run.Row{ID: s.Add("input", "SELECT 1")}
		if err := s.Conn.QueryRow(t.Context(), "SELECT xmin FROM task WHERE id = $1", row.ID).Scan(&row.Version); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, &run.Task{Row: row})
	}
	bad, good := tasks[0].Row.ID, tasks[1].Row.ID
	s.Panics.Blame(bad)
	left, err := s.Startable(t.Context(), tasks)
	if err != nil || len(left) != 1 || left[0].Row.ID != good {
		t.Error("left are ", left, err)
	}
	if row := s.JSON(bad, "state, sqlstate"); row != `{"state":"FAIL","sqlstate":"XX000"}` || s.State(good) != "PLAN" {
		t.Error(row, s.State(good), servertest.Get(t, s.Conn, "SELECT error FROM task WHERE id = $1", bad))
	}
	if s.Panics.has(bad) {
		t.Error("it is still to be judged")
	}
}
