package work

import (
	"math/rand/v2"
	"time"
)

// crossedTries is how often a task that another transaction was in the way of (40001, 40P01, 55P03)
// is run again before it FAILs.
const crossedTries = 5

// again is how often a task had to be run again for reasons of our own.
type again struct {
	runs    int
	crossed int // of those, because another transaction was in the way of its end
}

// crosses counts another such run, and says how long it is to wait: others that met it wait as
// well, and not for as long.
func (a again) crosses() (again, time.Duration) {
	a.runs, a.crossed = a.runs+1, a.crossed+1
	return a, rand.N(5 * time.Millisecond << min(a.crossed, 7))
}

func (a again) anotherRun() again {
	a.runs++
	return a
}
