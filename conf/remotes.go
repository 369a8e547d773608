package conf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pgtaskd/remote"
	"pgtaskd/work"
)

// entry is one of the remotes: a connection string, and which targets may use it.
type entry struct {
	dsn     string
	targets []value // names; nil: every target
}

// remotes reads connection strings by their names: a string serves every
// target, an object those that it names.
func (r *reader) remotes(into map[string]entry) func(value) {
	return func(v value) {
		known := keys{}
		for _, f := range v.fields {
			known[f.key] = func(v value) { into[f.key] = r.entry(v) }
		}
		if known[""] != nil {
			r.fault(v, "a name must not be empty")
		}
		r.object(v, known)
	}
}

func (r *reader) entry(v value) (e entry) {
	dsn := func(v value) {
		r.dsn(new(remote.Settings))(v)
		e.dsn = v.text
	}
	if v.kind != object {
		if v.kind != text {
			r.fault(v, `must be a connection string, or an object with "dsn" and "targets", not %s`, v.kind)
			return e
		}
		dsn(v)
		return e
	}
	given := false
	r.object(v, keys{
		"dsn":     func(v value) { given = true; dsn(v) },
		"targets": r.targetNames(&e.targets),
	})
	if !given {
		r.fault(v, `"dsn" is missing`)
	}
	return e
}

// targetNames reads a list of names such as shop/public/task.
func (r *reader) targetNames(into *[]value) func(value) {
	return func(v value) {
		if v.kind != list {
			r.fault(v, `must be a list of targets, such as ["shop/public/task"], not %s`, v.kind)
			return
		}
		if len(v.items) == 0 {
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
				*into = append(*into, name)
			}
		}
	}
}

// allot gives each target the remotes that serve it, and finds names that no
// target has, or that two tables could be meant by.
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
			r.names(v, targets, byName)
			for _, i := range byName[v.text] {
				targets[i].Remotes[name] = e.dsn
			}
		}
	}
}

// names refuses a name that means no target, or different tables: a/b/c/d is
// table d of schema c as well as c/d of schema b.
func (r *reader) names(v value, targets []work.Target, byName map[string][]int) {
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
