package web

import (
	"cmp"
	"fmt"
	"sync"

	"pgtaskd/human"
	"pgtaskd/work"
)

// board has the targets that are shown. Any goroutine may use it.
type board struct {
	mu    sync.Mutex
	shown []shown
}

// shown is a target with the name that people see, which no other has.
type shown struct {
	name    string
	stats   *work.Stats
	written *written
}

// show shows these targets from now on. One that was shown before keeps its written metrics.
func (b *board) show(targets []work.Target) {
	known := map[*work.Stats]shown{}
	for _, t := range b.targets() {
		known[t.stats] = t
	}
	var now []shown
	for i, name := range names(targets) {
		t := known[targets[i].Stats]
		if t.name != name {
			t = shown{name: name, stats: targets[i].Stats, written: &written{}}
		}
		now = append(now, t)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = now
}

// targets are those that are shown.
func (b *board) targets() []shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

// names are those of the targets, with their servers where one name is not enough.
func names(targets []work.Target) []string {
	times := map[string]int{}
	for _, t := range targets {
		times[t.Name()]++
	}
	used, all := map[string]bool{}, make([]string, len(targets))
	for i, t := range targets {
		name := t.Name()
		if times[name] > 1 {
			name += "@" + cmp.Or(t.Connect["host"], t.Connect["hostaddr"], t.Connect["service"]) + ":" + cmp.Or(t.Connect["port"], "5432")
		}
		name = human.Visible(name)
		all[i] = name
		for n := 2; used[all[i]]; n++ {
			all[i] = fmt.Sprintf("%s#%d", name, n)
		}
		used[all[i]] = true
	}
	return all
}
