package run

import (
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// TestInstantProfile: a query is an instant while most queries like it are, however long some take;
// a task that writes is none.
func TestInstantProfile(t *testing.T) {
	t.Parallel()
	query := func() *Task {
		input, data := "SELECT 1", ""
		t := &Task{Row: Row{Input: &input, Data: &data, Single: true, Rerun: true}}
		t.Examine()
		return t
	}
	ran := &exec.Result{Open: true}
	for name, c := range map[string]struct {
		took    func(i int) time.Duration
		result  *exec.Result
		instant bool
	}{
		"always":    {func(int) time.Duration { return 50 * time.Microsecond }, ran, true},
		"displaced": {func(i int) time.Duration { return time.Duration(1+i%3/2*1000) * 50 * time.Microsecond }, ran, true},
		"slow":      {func(i int) time.Duration { return time.Duration(1+min(i%3, 1)*1000) * 50 * time.Microsecond }, ran, false},
		"backwards": {func(i int) time.Duration { return time.Duration(min(i/60, 1)*2-1) * time.Millisecond }, ran, false},
		"writes":    {func(int) time.Duration { return 50 * time.Microsecond }, &exec.Result{Open: true, Xact: 1}, false},
	} {
		h := Profiles{all: map[like]*profile{}}
		if h.instant(query()) {
			t.Error(name, "unknown")
		}
		for i := range 300 {
			h.saw(query(), true, c.took(i), c.result)
		}
		if got := h.instant(query()); got != c.instant {
			t.Error(name, got)
		}
	}
}

// TestInstantsAreCounted: each once, as long as it runs and does not take instantPast. If there are
// InstantMost, no other session takes one.
func TestInstantsAreCounted(t *testing.T) {
	t.Parallel()
	r := runnerOf(t, &pool.Session{})
	h := &r.shared.Profiles
	var tasks []*Task
	for range InstantMost + 1 {
		input := "SELECT 1"
		task := &Task{Row: Row{Input: &input}}
		task.Examine()
		tasks = append(tasks, task)
	}
	h.joins(tasks[0])
	for range profileFirm {
		h.saw(tasks[0], true, time.Microsecond, &exec.Result{Open: true})
	}
	last := tasks[InstantMost]
	for _, task := range tasks[:InstantMost] {
		if !r.fits(last) {
			t.Fatal("there is room for it")
		}
		h.joins(task)
		h.joins(task)
	}
	counted := func(n int32) {
		t.Helper()
		if got := h.instants.Load(); got != n || r.fits(last) != (n < InstantMost) {
			t.Error(got, n)
		}
	}
	counted(InstantMost)
	h.Lasts(tasks[0], time.Now())
	counted(InstantMost)
	h.Lasts(tasks[0], time.Now().Add(instantPast))
	h.leaves(tasks[0])
	counted(InstantMost - 1)
	h.leaves(tasks[1])
	h.joins(tasks[1])
	counted(InstantMost - 1)
}

// TestProfileOfARemote: a run outside a transaction does not show whether the shape writes. It only
// counts as a run since the last known write.
func TestProfileOfARemote(t *testing.T) {
	t.Parallel()
	input := "SELECT 1"
	one := &Task{Row: Row{Remote: "other", Input: &input}}
	one.Examine()
	h := Profiles{all: map[like]*profile{}}
	see := func(n int, atomic, wrote, firm, writes bool) {
		t.Helper()
		xact := int64(0)
		if wrote {
			xact = 1
		}
		for range n {
			h.saw(one, atomic, time.Millisecond, &exec.Result{Open: atomic, Xact: xact})
		}
		if h.depth(one) > 1 != firm || (h.of(one).queries < 0) != writes {
			t.Error(h.depth(one), h.of(one))
		}
	}
	see(profileFirm, false, true, false, false)
	see(profileFirm-1, true, false, false, false)
	see(1, true, false, true, false)
	see(1, true, true, false, true)
	see(profileWrote-1, false, false, false, true)
	see(100, false, false, false, false)
	see(profileFirm-1, true, false, false, false)
	see(1, true, false, true, false)
}
