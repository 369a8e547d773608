package work

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Rows whose groups are short, and others that take long to tell apart.
const (
	manyShort = `INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', 'g' || i % 7, now() - interval '30 min' FROM generate_series(1, 45000) AS i`
	someLong  = `INSERT INTO task (input, "group", remote, plan) SELECT 'SELECT 1', repeat('g', 65000), CASE WHEN i % 2 = 0 THEN repeat('r', 2000) END, now() - interval '30 min' FROM generate_series(1, 1000) AS i`
)

// longName is one that takes long to tell from others.
func longName() string { return strings.Repeat("g", 65000) }

// TestOthersStartWhileAScanIsUnderWay: what comes meanwhile is read before that is through, be
// there many tasks or some with long names; and so is what becomes due.
func TestOthersStartWhileAScanIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{"many": manyShort, "long names": someLong} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			l := s.installed()
			s.exec(rows)
			due := s.add(`input, "group", plan`, "SELECT 1", "due", time.Now().Add(time.Second))
			if err := l.scan(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			id := s.add(`input, "group"`, "SELECT 1", "others")
			s.until("due", func() bool { return l.Clock.Until(l.look.next) <= 0 })
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
		})
	}
}

// TestLongNamesThatComeDuringAScanAreFoundAfterIt: the look for what is new leaves them out.
func TestLongNamesThatComeDuringAScanAreFoundAfterIt(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec(someLong)
	if err := l.scan(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	id := s.add(`input, "group"`, "SELECT 1", longName()+"of another")
	l.look.wanted = true
	for i := 0; l.tasks[id] == nil; i++ {
		if i > 100 {
			t.Fatal("it is not found")
		}
		if err := l.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.prefetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestANewLeaderStartsOthersBeforeWhatHasLongNames, and knows before that what is under way.
func TestANewLeaderStartsOthersBeforeWhatHasLongNames(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec(someLong)
	id := s.add(`input, "group"`, "SELECT 1", "others")
	atWork := s.add(`input, "group"`, "SELECT 1", longName())
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("UPDATE task SET state = 'WORK', pid = 7, start = now(), attempt = 1 WHERE id = $1", atWork)
	l.startScan(true)
	l.scanning.began = l.scanning.began.Add(-scanAtOnce)
	for l.scanning.atOnce {
		if err := l.scanOn(t.Context(), &l.scanning); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.prefetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.tasks[id] == nil || l.orphans[atWork] == nil || !l.scanning.active || l.look.partial {
		t.Error("another is read: ", l.tasks[id] != nil, ", known at work: ", len(l.orphans),
			", the scan is under way: ", l.scanning.active, ", not all is known: ", l.look.partial)
	}
	l.goThrough(t)
	if l.listed()+len(l.tasks) != 1001 {
		t.Error(l.listed(), " are known, and ", len(l.tasks), " read")
	}
}

// TestATaskWithALongNameHasItsLane: of one group one runs at a time, and each runs.
func TestATaskWithALongNameHasItsLane(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (input, "group", delete) SELECT 'SELECT pg_sleep(0.01)', $1, false FROM generate_series(1, 10)`, longName())
	s.eventually("10", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if n := s.get("SELECT count(*) FROM task AS a JOIN task AS b ON a.id < b.id AND a.stop > b.start"); n != "0" {
		t.Error(n, " run beside others")
	}
}

// TestPartsHaveTheirTime: one that takes long makes those after it smaller, until they do not.
func TestPartsHaveTheirTime(t *testing.T) {
	t.Parallel()
	s := place{chunk: scanChunk}
	for range 20 {
		s.pace(dutyPart+1, 0)
	}
	if s.chunk != scanLeast {
		t.Error("after long ones: ", s.chunk)
	}
	for range 20 {
		s.pace(time.Millisecond, 0)
	}
	if s.chunk != scanChunk {
		t.Error("after short ones: ", s.chunk)
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
