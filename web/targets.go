package web

import (
	"cmp"
	"fmt"
	"sync"

	"pgtaskd/human"
	"pgtaskd/work"
)

// targets has the targets that are shown. Any goroutine may use it.
type targets struct {
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
func (all *targets) show(wanted []work.Target) {
	known := map[*work.Stats]shown{}
	for _, t := range all.list() {
		known[t.stats] = t
	}
	var now []shown
	for i, name := range names(wanted) {
		t := known[wanted[i].Stats]
		if t.name != name {
			t = shown{name: name, stats: wanted[i].Stats, written: &written{}}
		}
		now = append(now, t)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.shown = now
}

// list are those that are shown.
func (all *targets) list() []shown {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.shown
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
