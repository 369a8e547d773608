package work

import (
	"testing"
	"time"

	"pgtaskd/work/pool"

	"pgtaskd/exec"
)

// TestInstantHabit: a query is instant while most of its like are, however long some of them take; not one that writes, nor one whose server is far.
func TestInstantHabit(t *testing.T) {
	t.Parallel()
	query := func() *Task {
		input, data := "SELECT 1", ""
		t := &Task{row: row{Input: &input, Data: &data, Single: true, Rerun: true}}
		t.examine()
		return t
	}
	ran := &exec.Result{Open: true}
	for name, c := range map[string]struct {
		took    func(i int) time.Duration
		far     bool
		result  *exec.Result
		instant bool
	}{
		"always":    {func(int) time.Duration { return 50 * time.Microsecond }, false, ran, true},
		"displaced": {func(i int) time.Duration { return time.Duration(1+i%3/2*1000) * 50 * time.Microsecond }, false, ran, true},
		"slow":      {func(i int) time.Duration { return time.Duration(1+min(i%3, 1)*1000) * 50 * time.Microsecond }, false, ran, false},
		"far":       {func(int) time.Duration { return 50 * time.Microsecond }, true, ran, false},
		"backwards": {func(i int) time.Duration { return time.Duration(min(i/60, 1)*2-1) * time.Millisecond }, false, ran, false},
		"writes":    {func(int) time.Duration { return 50 * time.Microsecond }, false, &exec.Result{Open: true, Wrote: true}, false},
	} {
		h := habits{of: map[like]*habit{}}
		if h.instant(query()) {
			t.Error(name, "unknown")
		}
		for i := range 300 {
			h.saw(query(), c.took(i), c.far, c.result)
		}
		if got := h.instant(query()); got != c.instant {
			t.Error(name, got)
		}
	}
}

// TestInstantsAreCounted: as long as they run and have not turned out to wait, each once; where there are enough another is for one of their sessions.
func TestInstantsAreCounted(t *testing.T) {
	t.Parallel()
	r := &runner{Dispatcher: newLoop(t.Context(), Target{Run: 100}, zerologNone).Dispatcher, session: &pool.Session{}}
	var tasks []*Task
	for range instantMost + 1 {
		input := "SELECT 1"
		task := &Task{row: row{Input: &input}}
		task.examine()
		tasks = append(tasks, task)
	}
	r.joins(tasks[0])
	for range habitFirm {
		r.habits.saw(tasks[0], time.Microsecond, false, &exec.Result{Open: true})
	}
	last := tasks[instantMost]
	for _, task := range tasks[:instantMost] {
		if !r.fits(last) {
			t.Fatal("there is room for it")
		}
		r.joins(task)
		r.joins(task)
	}
	counted := func(n int32) {
		t.Helper()
		if got := r.instants.tasks.Load(); got != n || r.fits(last) != (n < instantMost) {
			t.Error(got, n)
		}
	}
	counted(instantMost)
	r.Lasts(tasks[0], time.Now())
	counted(instantMost)
	r.Lasts(tasks[0], time.Now().Add(instantPast))
	r.leaves(tasks[0])
	counted(instantMost - 1)
	r.leaves(tasks[1])
	r.joins(tasks[1])
	counted(instantMost - 1)
}

// TestInstantsDoNotHinder: queries that take no time, and then turn out to wait, do not keep others from starting.
func TestInstantsDoNotHinder(t *testing.T) {
	t.Parallel()
	s := lead(t, func(t *Target) { t.Run = instantMost + 8 })
	quick := func(n int) { // one lane each
		s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'quick', 'g' || i FROM generate_series(1, $2) AS i`, waits, n)
		s.eventually("0", "SELECT count(*) FROM task WHERE data = 'quick' AND state <> 'DONE'")
	}
	quick(100) // and so they are known
	s.exec("UPDATE task SET data = 'known'")
	quick(1000)
	holder := s.connect()
	s.tell(holder, "SELECT pg_advisory_lock(7)")
	s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'wait', 'w' || i FROM generate_series(1, $2) AS i`, waits, instantMost+4)
	s.eventually("20", "SELECT count(*) FROM task WHERE data = 'wait' AND state = 'WORK'")
	quick(100) // there is room for some
	s.tell(holder, "SELECT pg_advisory_unlock(7)")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	if n := s.loop.instants.tasks.Load(); n != 0 {
		t.Error(n, "are counted still")
	}
}

// TestSlowTaskBehindInstants: where the sessions that run queries of microseconds are enough for the tasks that come first in many lanes, others have the rest of run.
func TestSlowTaskBehindInstants(t *testing.T) {
	t.Parallel()
	s := lead(t, func(t *Target) { t.Run = 2 * instantMost })
	input := "SELECT 1"
	like := &Task{row: row{Input: &input}}
	like.examine()
	for range habitFirm {
		s.loop.habits.saw(like, time.Microsecond, false, &exec.Result{Open: true})
	}
	s.loop.instants.tasks.Add(instantMost)
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT 1', 'g' || i FROM generate_series(1, $1) AS i`, 20) // more than are looked at for one that fits
	s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(0)", "slow"), "DONE")
	if n := s.get("SELECT count(*) FROM task WHERE state = 'DONE'"); n != "1" {
		t.Error(n, "have ended, though there are enough such queries")
	}
	s.loop.instants.tasks.Add(-instantMost)
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
}

// TestSlightedTaskStarts: sessions that do not suit the task that comes first make room for it, though there is enough for them to do.
func TestSlightedTaskStarts(t *testing.T) {
	t.Parallel()
	s := lead(t, func(t *Target) { t.Run = 1 })
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT pg_sleep(0.01)', 'g' || i % 100 FROM generate_series(1, 500) AS i`)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	urgent := s.add("input, remote, priority", "SELECT 1", s.dsn, 1)
	s.becomes(urgent, "DONE")
	if s.get("SELECT count(*) > 0 FROM task WHERE state = 'PLAN'") != "true" {
		t.Error("it came last")
	}
}
