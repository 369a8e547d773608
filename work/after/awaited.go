package after

// awaitedMost is how many tasks are known to be waited for; surveys find the others when they have
// ended.
const awaitedMost = 1_000_000

// awaited are the tasks that others wait for, and of these the ones that have ended, in their order:
// their successors are still to be looked at.
type awaited struct {
	all   map[int64]bool // true: it has ended, and is in the queue
	ended []int64
}

func (a *awaited) any() bool { return len(a.all) > 0 }

func (a *awaited) has(id int64) bool {
	_, known := a.all[id]
	return known
}

// add takes note that a task which is still to end is waited for.
func (a *awaited) add(id int64) {
	if a.has(id) || len(a.all) < awaitedMost {
		a.all[id] = false
	}
}

// ends takes note that a task which is waited for has ended.
func (a *awaited) ends(id int64) {
	if !a.all[id] {
		a.all[id], a.ended = true, append(a.ended, id)
	}
}

// next takes some that have ended from the queue, but for those that run again.
func (a *awaited) next(most int) (ids []int64) {
	for len(ids) < most && len(a.ended) > 0 {
		if id := a.ended[0]; a.all[id] {
			ids = append(ids, id)
		}
		a.ended = a.ended[1:]
	}
	return ids
}
