package run

import (
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// TestTasksThatAreNotPipelined must not run once more, or need their end in their transaction, or
// come after a pause.
func TestTasksThatAreNotPipelined(t *testing.T) {
	t.Parallel()
	usual := func() *Task {
		input, data := "SELECT 1", ""
		return &Task{Row: Row{Input: &input, Data: &data, Single: true, Rerun: true}}
	}
	text := func(input string) func(*runner, *Task) { return func(_ *runner, t *Task) { t.Row.Input = &input } }
	for name, change := range map[string]func(*runner, *Task){
		"usual":     func(*runner, *Task) {},
		"rerun":     func(_ *runner, t *Task) { t.Row.Rerun = false },
		"repeat":    func(_ *runner, t *Task) { t.Row.Single = false },
		"pause":     func(_ *runner, t *Task) { t.Row.Max = -1 },
		"count":     func(_ *runner, t *Task) { t.Row.Session.Count = 1 },
		"live":      func(_ *runner, t *Task) { t.Row.Session.Live = time.Second },
		"suspect":   func(_ *runner, t *Task) { t.Row.Suspect = true },
		"remote":    func(_ *runner, t *Task) { t.Row.Remote = "other" },
		"again":     func(_ *runner, t *Task) { t.Again = 1 },
		"long":      func(_ *runner, t *Task) { t.Row.Input = nil },
		"foreign":   func(r *runner, _ *Task) { r.shared.Foreign.Store(true) },
		"strict":    func(r *runner, _ *Task) { r.shared.Live.Store(&target.Live{OutputFail: true}) },
		"insert":    text("INSERT INTO a VALUES (1)"),
		"sequence":  text("SELECT nextval('a')"),
		"notify":    text("SELECT pg_notify('a', 'b')"),
		"isolation": text("SELECT set_config('transaction_isolation', 'serializable', true), transaction_isolation"),
		"commit":    text("SELECT 1; COMMIT"),
	} {
		r := runnerOf(t, &pool.Session{Session: &exec.Session{}})
		task := usual()
		change(r, task)
		if got := r.shared.pipelined(task, r.session); got != (name == "usual") {
			t.Error(name, got)
		}
	}
}
