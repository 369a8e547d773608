package conf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pgtaskd/remote"
	"pgtaskd/work"
)

// entry is one remote: a connection string, and the targets that may use it.
type entry struct {
	dsn     string
	targets []value // names; nil: every target
}

// remotes reads named connection strings. A plain string serves every target, an object those that
// it lists.
func (r *reader) remotes(v value) map[string]entry {
	entries, known := map[string]entry{}, keys{}
	for _, f := range v.fields {
		known[f.key] = func(v value) { entries[f.key] = r.entry(v) }
	}
	if known[""] != nil {
		r.fault(v, "a name must not be empty")
	}
	r.object(v, known)
	return entries
}

func (r *reader) entry(v value) (e entry) {
	dsn := func(v value) {
		into(r, new(remote.Settings), r.dsn)(v)
		e.dsn = v.text
	}
	switch v.kind {
	case text:
		dsn(v)
	case object:
		r.object(v, keys{"dsn": dsn, "targets": func(v value) { e.targets = r.targetNames(v) }})
		if !v.has("dsn") {
			r.fault(v, `"dsn" is missing`)
		}
	default:
		r.fault(v, `must be a connection string, or an object with "dsn" and "targets", not %s`, v.kind)
	}
	return e
}

// targetNames reads a list of names such as shop/public/task.
func (r *reader) targetNames(v value) (names []value) {
	if v.kind != list {
		r.fault(v, `must be a list of targets, such as ["shop/public/task"], not %s`, v.kind)
	} else if len(v.items) == 0 {
		r.fault(v, "must name a target; an entry without this key serves every target")
	}
	seen := map[string]bool{}
	for _, name := range v.items {
		switch {
		case name.kind != text:
			r.fault(name, "must be the name of a target, database/schema/table, not %s", name.kind)
		case seen[name.text]:
			r.fault(name, "is named twice")
		default:
			seen[name.text] = true
			names = append(names, name)
		}
	}
	return names
}

// allot gives each target its remotes. It reports a name that no target has, or that could mean two
// tables.
func (r *reader) allot(targets []work.Target, entries map[string]entry) {
	byName := map[string][]int{}
	for i, t := range targets {
		byName[t.Name()] = append(byName[t.Name()], i)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e.targets == nil {
			for _, t := range targets {
				t.Remotes[name] = e.dsn
			}
		}
		for _, v := range e.targets {
			r.known(v, targets, byName)
			for _, i := range byName[v.text] {
				targets[i].Remotes[name] = e.dsn
			}
		}
	}
}

// known reports a name of no target, or of different tables: a/b/c/d is table d of schema b/c, or
// table c/d of schema b.
func (r *reader) known(v value, targets []work.Target, byName map[string][]int) {
	found := byName[v.text]
	if len(found) == 0 {
		names := slices.Sorted(maps.Keys(byName))
		r.fault(v, "no target has this name%s", cmp.Or(DidYouMean(v.text, names), fmt.Sprintf("; the targets are %q", names)))
		return
	}
	for _, i := range found[1:] {
		a, b := targets[found[0]], targets[i]
		if a.Schema != b.Schema || a.Table != b.Table {
			r.fault(v, "two targets have this name; one of them must be served by another configuration")
			return
		}
	}
}
