package work

import (
	"testing"
	"time"
)

// TestLongSuccessorsKeepNobodyWaiting: those for which there was no time come again, and others
// beside them.
func TestLongSuccessorsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	l.term = newTerm(time.Now())
	never := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("INSERT INTO task (input, after) SELECT '', array_fill($1::int8, ARRAY[CASE WHEN i % 2 = 0 THEN 10000 ELSE 1 END]) FROM generate_series(1, 20) AS i", never)
	for id := range int64(20) {
		l.successors.fresh.add(never + id + 1)
	}
	for len(l.successors.fresh.known) > 0 {
		if err := l.meetNewcomers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.get("SELECT count(*) FROM task WHERE awaits = $1", never); got != "20" {
		t.Error(got)
	}
}
