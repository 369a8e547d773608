package work

import (
	"testing"
	"time"
)

// TestOthersStartWhileManyAreOverdue: tasks whose active has passed are given up some at a time.
func TestOthersStartWhileManyAreOverdue(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`WITH overdue AS (
		INSERT INTO task (input, plan, active) SELECT 'SELECT 1', now() - interval '1 day', '1 s' FROM generate_series(1, 10000)
	) INSERT INTO task (input, "group") VALUES ('SELECT 1', 'other')`)
	s.eventually("10000", "SELECT count(*) FROM task WHERE state = 'GONE'")
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if before := s.get(`SELECT count(*) FROM task AS gone, task AS other WHERE gone.state = 'GONE' AND other."group" = 'other' AND gone.stop < other.start`); before == "10000" {
		t.Error("another's task has waited until all that are overdue were given up")
	}
}

// TestOverdueTasksThatAreLockedAreLeftOutForAWhile, and given up then.
func TestOverdueTasksThatAreLockedAreLeftOutForAWhile(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec("INSERT INTO task (input, plan, active) SELECT 'SELECT 1', now() - interval '1 day', '1 s' FROM generate_series(1, 1001)")
	release := s.lock(1, "OR id > 1 FOR UPDATE")
	s.exec("INSERT INTO task (input, plan, active) VALUES ('SELECT 1', now() - interval '1 day', '1 s')")
	if err := l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	giveUp := func() (tried int) {
		t.Helper()
		for tried = len(l.overdue); len(l.overdue) > 0; {
			if err := l.expire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return tried
	}
	look := func() {
		t.Helper()
		if err := l.scan(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	if tried := giveUp(); tried != 1002 || s.state(1002) != "GONE" {
		t.Error(tried, s.state(1002))
	}
	if look(); giveUp() != 0 {
		t.Error("some are tried again at once")
	}
	release()
	l.holds.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if next := l.nextScan(); next > 0 {
		t.Error("nothing is done for", next)
	}
	if look(); giveUp() != 1001 || s.get("SELECT count(*) FROM task WHERE state <> 'GONE'") != "0" {
		t.Error("some are left")
	}
}

// TestOverdueTasksThatHaveNotBeenTriedAreKept where another met a lock: they are given up after the
// rest that follows, without another look at all that is due.
func TestOverdueTasksThatHaveNotBeenTriedAreKept(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	l.term = &term{}
	s.exec("ALTER TABLE task ADD CHECK (id <> 2 OR state <> 'GONE' OR pg_advisory_xact_lock(1)::text IS NOT NULL)")
	s.exec("INSERT INTO task (input, plan, active) SELECT 'SELECT 1', '2020-01-01', '1 s' FROM generate_series(1, 3000)")
	must(t, s.connect(), "SELECT pg_advisory_lock(1)")
	for id := range int64(3000) {
		l.overdue = append(l.overdue, id+1)
	}
	for len(l.overdue) > 0 {
		if err := l.expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left := s.get("SELECT string_agg(id::text, ' ') FROM task WHERE state <> 'GONE'"); left != "2" {
		t.Error("left are ", left)
	}
}
