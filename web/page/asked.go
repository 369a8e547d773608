package page

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"

	"pgtaskd/human"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// Target is a target of the controller with its unique name.
type Target struct {
	work.Target
	Name string
}

// Named gives targets unique names: the server is part of a name that several have.
func Named(targets []work.Target) []Target {
	times, used := map[string]int{}, map[string]bool{}
	for _, t := range targets {
		times[t.Name()]++
	}
	named := make([]Target, 0, len(targets))
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
		named = append(named, Target{t, unique})
	}
	return named
}

// Standing returns how this controller serves the target.
func (t Target) Standing() target.Standing { return t.Stats.Standing() }

// Asked is a request for a page. Handlers do not change it.
type Asked struct {
	Kind    *Kind
	Targets []Target   // all
	Query   url.Values // of the URL, without what no page knows
	User    login.User
	Hidden  rows.Hidden // columns that this user does not see
	Prefix  string      // of all URLs; "" or "/jobs"
	JSON    bool        // only the rows are wanted
	Config  string      // path of the configuration, for commands to copy; "": not known
	Demo    *Demo       // nil: this is no demo
}

// Target returns the target that the URL names; without a name the first one.
func (a *Asked) Target() (Target, error) {
	name := a.Query.Get("target")
	for _, t := range a.Targets {
		if t.Name == name || name == "" {
			return t, nil
		}
	}
	if name == "" {
		return Target{}, Wrong("there is no target")
	}
	return Target{}, Wrong("there is no target %q; there is %s", name, a.Targets[0].Name)
}

// Named returns the name of the target that the URL names.
func (a *Asked) Named() string {
	t, _ := a.Target()
	return t.Name
}

// Chosen returns the targets that the URL names: one, or all.
func (a *Asked) Chosen() ([]Target, error) {
	if !a.Query.Has("target") {
		return a.Targets, nil
	}
	t, err := a.Target()
	return []Target{t}, err
}

// id reads the id of a task from the URL.
func (a *Asked) id(name string) (int64, error) {
	id, err := strconv.ParseInt(a.Query.Get(name), 10, 64)
	if err != nil {
		return 0, Wrong("%s must be the id of a task, not %q", name, a.Query.Get(name))
	}
	return id, nil
}

// Link returns the URL of a page below the prefix, with parameters by name and value. It keeps the
// target and the zone of this request unless the parameters say otherwise; an empty value drops one.
func (a *Asked) Link(path string, parameters ...string) string {
	q := url.Values{}
	for _, kept := range []string{"target", "tz"} {
		if a.Query.Has(kept) {
			q.Set(kept, a.Query.Get(kept))
		}
	}
	return a.link(path, q, parameters)
}

// With returns the URL of this page with its filter, changed by parameters; an empty value drops
// one. after is dropped unless it is given.
func (a *Asked) With(parameters ...string) string {
	q := url.Values{}
	for name, values := range a.Query {
		if name != "after" {
			q[name] = values
		}
	}
	return a.link(a.Kind.Path, q, parameters)
}

func (a *Asked) link(path string, q url.Values, parameters []string) string {
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] == "" {
			q.Del(parameters[i])
		} else {
			q.Set(parameters[i], parameters[i+1])
		}
	}
	if len(q) == 0 {
		return a.Prefix + path
	}
	return a.Prefix + path + "?" + q.Encode()
}
