package work

import (
	"testing"
	"time"
)

// TestManyThatWereDeletedKeepNobodyWaiting: they are not looked for one by one.
func TestManyThatWereDeletedKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(target *Target) { target.Sleep, target.Reset = time.Hour, time.Hour })
	l := s.installed()
	s.exec("SET session_replication_role = replica")
	s.exec(`INSERT INTO task (input, "group", priority) SELECT '', i % 1000, 10 FROM generate_series(1, 20000) AS i`)
	if err := l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.look.full, l.look.fullTook = time.Now().Add(-2*time.Second), time.Hour
	s.exec("DELETE FROM task")
	other := s.add("input", "")
	for range 60 {
		if err := l.prefetch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.tasks[other] != nil {
			return
		}
	}
	_, _, ready := l.runs.Lanes.Load()
	t.Errorf("another one is not read; %d are known to be due", ready)
}
