package sql

import (
	"regexp"
	"slices"
	"sync"
)

// Helpers are functions that what stands beside a table calls by name, with a value of the type that
// only ours take.

var callTaking = regexp.MustCompile(`(?m)^CREATE (?:OR REPLACE )?FUNCTION :schema\.(\w+_:hash)\([^)]*:schema\.pgtaskd_call_:hash`)

// besideCalled are the names of all of them, without a table's.
var besideCalled = sync.OnceValue(func() (all []string) {
	for _, s := range besideSteps() {
		all = append(all, s.helpers...)
	}
	return all
})

// helpersIn are the names of those that the statements make, without a table's.
func helpersIn(statements string) (all []string) {
	for _, match := range callTaking.FindAllStringSubmatch(statements, -1) {
		all = append(all, match[1])
	}
	return all
}

// helpersOf are those that a step makes, as a table has them.
func helpersOf(t Table, s step) []string {
	all := make([]string, len(s.helpers))
	for i, name := range s.helpers {
		all[i] = names{table: t}.fill(name)
	}
	return all
}

// callsWhole tells whether all of them are there. Whoever may drop them may leave others of their
// names, which would be called then.
func (f *found) callsWhole(t Table, s step) bool {
	for _, name := range helpersOf(t, s) {
		if !slices.ContainsFunc(f.functions, func(f foundFunction) bool { return f.Name == name }) {
			return false
		}
	}
	return true
}
