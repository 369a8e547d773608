package conf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgtaskd/work"
)

// Choose returns the target with this name (database/schema/table); for "", the only target.
func (f *File) Choose(name string) (work.Target, error) {
	byName := map[string][]work.Target{}
	for _, t := range f.Targets {
		byName[t.Name()] = append(byName[t.Name()], t)
	}
	names := slices.Sorted(maps.Keys(byName))
	found := byName[name]
	switch {
	case len(f.Targets) == 0:
		return work.Target{}, fmt.Errorf("the configuration has no targets")
	case name == "" && len(f.Targets) == 1:
		return f.Targets[0], nil
	case name == "":
		return work.Target{}, fmt.Errorf("the configuration has several targets: name one with --target: %q", names)
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return work.Target{}, fmt.Errorf("several targets have the name %q: leave one of them in a configuration of its own", name)
	}
	hint := cmp.Or(DidYouMean(name, names), fmt.Sprintf("; the targets are %q", names))
	return work.Target{}, fmt.Errorf("no target has the name %q%s", name, hint)
}

// SingleNamed returns the target of a connection string. name gives its table as
// database/schema/table; "" means public.task.
func SingleNamed(dsn, name string) (work.Target, error) {
	t, err := Single(dsn)
	if err != nil || name == "" {
		return t, err
	}
	parts := strings.Split(name, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return work.Target{}, fmt.Errorf("%q is no target: write database/schema/table", name)
	}
	if database := t.Connect["dbname"]; parts[0] != database {
		return work.Target{}, fmt.Errorf("the target %q is not in the database %q to which the connection string leads", name, database)
	}
	t.Schema, t.Table = parts[1], parts[2]
	return t, nil
}
