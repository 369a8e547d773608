package servertest

import (
	"iter"
	"maps"
	"slices"
)

// SomeOf yields some of the cases of a test that takes minutes, or all if Thorough.
func SomeOf[T any](all map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if (Thorough || i%4 == 1) && !yield(name, all[name]) {
				return
			}
		}
	}
}
