package work

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOthersStartWhileAScanIsUnderWay: what comes meanwhile is read before that is through, and so is
// what becomes due.
func TestOthersStartWhileAScanIsUnderWay(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', 'g' || i % 7, now() - interval '30 min' FROM generate_series(1, 45000) AS i`)
	due := s.add(`input, "group", plan`, "SELECT 1", "due", time.Now().Add(time.Second))
	if err := l.scan(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	id := s.add(`input, "group"`, "SELECT 1", "others")
	s.until("due", func() bool { return l.runs.Clock.Until(l.look.next) <= 0 })
	l.look.wanted = true
	for (l.tasks[id] == nil || l.tasks[due] == nil) && l.scanning.active {
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.prefetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if l.tasks[id] == nil || l.tasks[due] == nil || !l.scanning.active {
		t.Error("others are read: ", l.tasks[id] != nil, l.tasks[due] != nil, ", the scan is under way: ", l.scanning.active)
	}
	l.goThrough(t)
	if n := s.get("SELECT count(*) FROM task"); n != strconv.Itoa(l.listed()+len(l.tasks)) {
		t.Error(l.listed(), " are known, and ", len(l.tasks), " read, of ", n)
	}
}

// TestATaskWithALongNameHasItsLane: of one group one runs at a time, and each runs.
func TestATaskWithALongNameHasItsLane(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (input, "group", delete) SELECT 'SELECT pg_sleep(0.01)', $1, false FROM generate_series(1, 10)`, strings.Repeat("g", 65000))
	s.eventually("10", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if n := s.get("SELECT count(*) FROM task AS a JOIN task AS b ON a.id < b.id AND a.stop > b.start"); n != "0" {
		t.Error(n, " run beside others")
	}
}

// goThrough goes on until no scan is under way.
func (l *loop) goThrough(t *testing.T) {
	t.Helper()
	for l.look.wanted = false; l.scanning.active; {
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
