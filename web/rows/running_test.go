package rows

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// read reads from the target's table as a page does.
func read[T any](t *testing.T, s *Sessions, to work.Target, do func(context.Context, *Table) (T, error)) (found T) {
	t.Helper()
	err := s.Read(t.Context(), to, time.Second, func(ctx context.Context, b *Table) (err error) {
		found, err = do(ctx, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestRunningSaysWhoBlocks: a session that is no task's, and a task that waits for another task.
func TestRunningSaysWhoBlocks(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	const hostile = "g\u202e'\"<script>%"
	tasks.Exec("CREATE TABLE item (id int); INSERT INTO item VALUES (1)")
	tasks.Exec(`INSERT INTO task (input, "group", key, state, start, stop) SELECT '', 'others', 'k', 'DONE', '2020-01-01', '2020-01-01'::timestamptz + i * interval '0.1 ms' FROM generate_series(1, 100) AS i`)
	tasks.Exec(`INSERT INTO task (input, "group", state, start, stop) VALUES ('', $1, 'DONE', '2020-01-01', '2020-01-02')`, hostile)
	blocker := servertest.Connect(t, to.Connect.String())
	servertest.Exec(t, blocker, "BEGIN; SELECT FROM item WHERE id = 1 FOR UPDATE")
	serve(t, to)
	tasks.Exec(`INSERT INTO task (id, input, "group", key) VALUES (1001, 'UPDATE item SET id = id /* password=secret */', 'first', 'k')`)
	running := func(hidden Hidden) map[int64]Running {
		all := map[int64]Running{}
		for _, r := range read(t, s, to, func(ctx context.Context, b *Table) ([]Running, error) { return b.Running(ctx, hidden) }) {
			all[r.ID] = r
		}
		return all
	}
	var all map[int64]Running
	servertest.Wait(t, patience, "the first task to be blocked", func() bool { all = running(Hidden{}); return len(all[1001].Blockers) == 1 && all[1001].Over })
	r := all[1001]
	if b := r.Blockers[0]; b.PID != int32(blocker.PgConn().PID()) || *b.Role == "" || *b.State != "idle in transaction" || !strings.Contains(*b.Query, "FOR UPDATE") || b.Task != 0 || *b.Seconds < 0 {
		t.Errorf("%+v", b)
	}
	if *r.WaitType != "Lock" || *r.WaitEvent == "" || strings.Contains(*r.Query, "secret") || !strings.Contains(*r.Query, "UPDATE item") || *r.Usual < 0.009 || *r.Usual > 0.01 {
		t.Errorf("%+v", r)
	}
	tasks.Exec(`INSERT INTO task (id, input, "group") VALUES (1002, 'UPDATE item SET id = id', $1)`, hostile)
	servertest.Wait(t, patience, "the second task to be blocked", func() bool { all = running(Hidden{Input: true}); return len(all[1002].Blockers) > 0 })
	r = all[1002]
	if b := r.Blockers[0]; b.Task != 1001 || r.Group != hostile || *r.Usual != 86400 || r.Over {
		t.Errorf("%+v", r)
	}
	for _, r := range all {
		if r.Query != nil || r.Blockers[0].Query != nil {
			t.Errorf("with the input hidden it shows SQL: %+v", r)
		}
	}
	servertest.Exec(t, blocker, "ROLLBACK")
	servertest.Wait(t, patience, "the end of both", func() bool { return len(running(Hidden{})) == 0 })
}
