package web

import (
	"sync/atomic"

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

// show replaces the targets.
func (all *targets) show(targets []target.Target) {
	now := make([]shown, 0, len(targets))
	for _, t := range page.Named(targets) {
		now = append(now, shown{t.Name, label("target", t.Name), t.Stats, t})
	}
	all.shown.Store(&now)
}
