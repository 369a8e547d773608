package work

import (
	"math/rand/v2"
	"time"

	"pgtaskd/exec"
)

// A task that another transaction was in the way of (40001, 40P01, 55P03) is run again, so often
// before it FAILs: after a random moment, and from crossedAlone times on while nothing else starts
// for a moment, but for a lock (55P03): whoever holds one for so long need not be a task.
const (
	crossedTries = 5
	crossedAlone = 3
)

// again is how often a task had to be run again for reasons of our own.
type again struct {
	runs    int
	crossed int // of those, because another transaction was in the way of its end
	clashed int // of those, because the two could not both go on: it helps to be alone
}

// crosses counts another such run, and says how long it is to wait: others that met it wait as
// well, and not for as long. What a remote says is no reason to be alone here.
func (a again) crosses(end *exec.Failure, remote string) (again, time.Duration) {
	a.runs, a.crossed = a.runs+1, a.crossed+1
	if end.SQLState != "55P03" && remote == "" {
		a.clashed++
	}
	return a, rand.N(5 * time.Millisecond << min(a.crossed, 7))
}

func (a again) anotherRun() again {
	a.runs++
	return a
}
