package work

import (
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// TestLooksStayCheap: what comes next is found without reading all that is to come, also by a
// statement that was planned when there was nothing.
func TestLooksStayCheap(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	for range 10 {
		if err := l.scan(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	s.exec("INSERT INTO task (input, plan) SELECT 'SELECT 1', statement_timestamp() + interval '1 day' FROM generate_series(1, 2000)")
	l.tell(t, "BEGIN")
	if err := l.scan(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	var read int
	if err := l.control.Conn().QueryRow(t.Context(), "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = $1::regclass",
		"public.task").Scan(&read); err != nil || read > 10 {
		t.Error(read, err)
	}
	l.tell(t, "COMMIT")
	if l.look.next.IsZero() {
		t.Error("nothing is to come")
	}
}

// TestStaleStatistics: tasks are taken, and their ends written, one by one also where a crowd of
// them came while the table was analyzed, which found none then.
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
		tasks, err = l.read(t.Context(), ids)
		return err
	})
	l.tasks.Know(tasks)
	for _, one := range tasks {
		now := time.Now()
		l.inbox.Outcome(run.Outcome{Task: one, Kind: run.Finished, PID: 1, Start: now, Stop: now, Result: &exec.Result{}})
	}
	l.hear()
	read("written", func() error { return l.post(t.Context()) })
	if len(l.tasks) > 0 {
		t.Error(len(l.tasks), "ends are not written")
	}
}
