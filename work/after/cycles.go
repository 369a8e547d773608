package after

import (
	"fmt"
	"slices"
)

// cycles are the circles in which tasks wait for each other. ids are in order, and each waits for
// the one in its place in awaits.
func cycles(ids, awaits []int64) (all [][]int64) {
	walks := make([]int, len(ids)) // by which each was visited first, counted from 1
	for i := range ids {
		j, found := i, true
		for found && walks[j] == 0 {
			walks[j] = i + 1
			j, found = slices.BinarySearch(ids, awaits[j])
		}
		if !found || walks[j] != i+1 {
			continue
		}
		var cycle []int64
		for first := j; len(cycle) == 0 || j != first; j, _ = slices.BinarySearch(ids, awaits[j]) {
			cycle = append(cycle, ids[j])
		}
		all = append(all, cycle)
	}
	return all
}

// cyclic is why the tasks of a cycle are given up.
func cyclic(cycle []int64) map[int64]reason {
	all := make(map[int64]reason, len(cycle))
	for i, id := range cycle {
		next := cycle[(i+1)%len(cycle)]
		why := "ERROR:  tasks wait for each other in a cycle\n" +
			"DETAIL:  Task %d waits for task %d, and so on, through %d tasks in all."
		all[id] = reason{why: fmt.Sprintf(why, id, next, len(cycle)), awaits: &next}
	}
	return all
}
