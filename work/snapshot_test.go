package work

import "testing"

// TestWhatOthersMayStillSeeSlowsNoTask: while a transaction is open, tasks that have ended since
// stay in the index. A task that comes alone is still found after them.
func TestWhatOthersMayStillSeeSlowsNoTask(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	other := s.connect()
	must(t, other, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	s.exec("ALTER TABLE task SET (autovacuum_enabled = false); SET session_replication_role = replica")
	s.exec("INSERT INTO task (input, plan) SELECT '', now() - interval '1 hour' FROM generate_series(1, 100000); DELETE FROM task")
	s.exec("INSERT INTO task (id, input) VALUES (-1, '')")
	alone := plans["prefetch"]
	alone.args = append([]string{"NULL"}, alone.args[1:len(alone.args)-1]...)
	alone.args = append(alone.args, "statement_timestamp() - interval '1 minute'")
	must(t, l.control.Conn(), "PREPARE plan_prefetch AS "+l.control.Queries().Text("prefetch"))
	if got, plan := explain(t, l.control.Conn(), "prefetch", alone); got.reads > 200 {
		t.Errorf("%v pages: %s", got.reads, plan)
	}
}
