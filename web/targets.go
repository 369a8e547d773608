package web

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"pgtaskd/human"
	"pgtaskd/web/page"
	"pgtaskd/work/target"
)

// targets holds the targets that are shown. Any goroutine may use it.
type targets struct {
	version string // of the program
	shown   atomic.Pointer[[]shown]
}

// shown is a target with a unique name for people.
type shown struct {
	name  string
	label string // of metrics
	stats *target.Stats
	page  page.Target
}

// list returns the targets that are shown.
func (all *targets) list() []shown { return *all.shown.Load() }

// pages returns them as the pages know them.
func (all *targets) pages() (found []page.Target) {
	for _, t := range all.list() {
		found = append(found, t.page)
	}
	return found
}

// show replaces the targets. It adds the server to a name that several targets have.
func (all *targets) show(targets []target.Target) {
	times, used := map[string]int{}, map[string]bool{}
	for _, t := range targets {
		times[t.Name()]++
	}
	now := make([]shown, 0, len(targets))
	for _, t := range targets {
		name := t.Name()
		if times[name] > 1 {
			name += "@" + cmp.Or(t.Connect["host"], t.Connect["hostaddr"], t.Connect["service"]) + ":" + cmp.Or(t.Connect["port"], "5432")
		}
		name = human.Visible(name)
		unique := name
		for n := 2; used[unique]; n++ {
			unique = fmt.Sprintf("%s#%d", name, n)
		}
		used[unique] = true
		now = append(now, shown{unique, label("target", unique), t.Stats, page.Target{Target: t, Name: unique}})
	}
	all.shown.Store(&now)
}
