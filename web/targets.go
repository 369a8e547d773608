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
	stale   atomic.Pointer[string] // why the configuration could not be loaded again; nil or "": it was
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

// staleness returns why the configuration is stale; "": it is not.
func (all *targets) staleness() string {
	if why := all.stale.Load(); why != nil {
		return *why
	}
	return ""
}

// show replaces the targets.
func (all *targets) show(targets []target.Target) {
	now := make([]shown, 0, len(targets))
	for _, t := range page.Named(targets) {
		now = append(now, shown{t.Name, label("target", t.Name), t.Stats, t})
	}
	all.shown.Store(&now)
}
