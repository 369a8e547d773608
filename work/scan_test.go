package work

import (
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// TestStaleStatistics: the table was analyzed while many tasks came, and ANALYZE found none. Tasks
// are still read, and their ends written, row by row.
func TestStaleStatistics(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec("ALTER TABLE task SET (autovacuum_enabled = off)")
	inserter := s.connect()
	(&led{stage: s}).tell(inserter, "BEGIN")
	(&led{stage: s}).tell(inserter, "INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 3000)")
	s.exec("ANALYZE task")
	(&led{stage: s}).tell(inserter, "COMMIT")
	if n := s.get("SELECT reltuples FROM pg_class WHERE oid = 'task'::regclass"); n != "0" {
		t.Fatal("the statistics know of", n)
	}
	read := func(what string, do func() error) {
		t.Helper()
		l.tell(t, "BEGIN")
		if err := do(); err != nil {
			t.Fatal(what, err)
		}
		var read int
		if err := l.control.Conn().QueryRow(t.Context(), "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = $1::regclass",
			"public.task").Scan(&read); err != nil || read > 1000 {
			t.Error(what, read, err)
		}
		l.tell(t, "COMMIT")
	}
	var ids []int64
	for id := range int64(200) {
		ids = append(ids, id+1)
	}
	var tasks []*run.Task
	read("read", func() (err error) {
		tasks, err = l.leader.prefetch.Read(t.Context(), ids)
		return err
	})
	l.tasks.Know(tasks)
	for _, one := range tasks {
		now := time.Now()
		l.inbox.Outcome(run.Outcome{Task: one, Kind: run.Finished, PID: 1, Start: now, Stop: now, Result: &exec.Result{}})
	}
	l.inbox.Take()
	read("written", func() error { return l.post(t.Context()) })
	if len(l.tasks) > 0 {
		t.Error(len(l.tasks), "ends are not written")
	}
}
