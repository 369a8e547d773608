package hold

import (
	"math/rand/v2"
	"time"
)

// Tries are how often tasks had to run again for reasons of our own, by their ids. They outlast
// terms.
type Tries struct{ all map[int64]tries }

type tries struct {
	runs    int
	crossed int // of those, because another transaction was in the way
}

// CrossedMost is how often a task runs again because another transaction was in its way (40001,
// 40P01, 55P03) before it FAILs.
const CrossedMost = 5

// NewTries returns one in which nothing had to.
func NewTries() *Tries { return &Tries{all: map[int64]tries{}} }

// Runs is how often a task had to.
func (t *Tries) Runs(id int64) int { return t.all[id].runs }

// Crossed is how often another transaction was in the way.
func (t *Tries) Crossed(id int64) int { return t.all[id].crossed }

// Again counts another run.
func (t *Tries) Again(id int64) {
	n := t.all[id]
	n.runs++
	t.all[id] = n
}

// Once makes it one run at least.
func (t *Tries) Once(id int64) {
	if t.all[id].runs == 0 {
		t.Again(id)
	}
}

// Crosses counts a run that another transaction was in the way of. The wait is random: others that
// met it wait as well, and not for as long.
func (t *Tries) Crosses(id int64) time.Duration {
	n := t.all[id]
	n.runs, n.crossed = n.runs+1, n.crossed+1
	t.all[id] = n
	return rand.N(Crossed.After(n.crossed))
}

// Forget forgets a task that has ended.
func (t *Tries) Forget(id int64) { delete(t.all, id) }
