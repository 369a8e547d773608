package hold

import (
	"cmp"
	"time"

	"pgtaskd/exec/fault"
)

const (
	// Batch is how many rows one statement changes or reads at most.
	Batch = 500
	// Parts is into how many parts rows come, about, of which a change is refused: so a thousand of
	// which each is refused take not many more statements than themselves.
	Parts = 8
	// Turn is how long a duty takes at once about that of which there may be a million: the others
	// come in between.
	Turn = 50 * time.Millisecond

	lockShare = 14 // waits for locks take less than half of the loop's time
)

// Sizer says how many rows the next statement of a kind changes that the table may refuse, or
// somebody's lock may hold up. Two kinds have one each: none keeps the other from its turn.
type Sizer struct {
	most  int       // rows, since one of more has failed; 0: as many as may be
	until time.Time // nothing that met a lock, or is slow, is tried until then
}

// Rests tells that nothing is tried now that met a lock.
func (s *Sizer) Rests() bool { return time.Now().Before(s.until) }

// Until is when that may be tried.
func (s *Sizer) Until() time.Time { return s.until }

// Rest has what met a lock wait, and what is slow, since another that has begun then was.
func (s *Sizer) Rest(began time.Time) { s.until = time.Now().Add(lockShare * time.Since(began)) }

// Late tells that the rest of a change that has begun then is left for the next time, as others come
// in between.
func (s *Sizer) Late(began time.Time) bool {
	return (s.most > 0 || s.Rests()) && time.Since(began) >= Turn
}

// Took takes note of a change of n rows that has begun then. There may be many more rows that fail:
// so the next changes are of fewer, until some have gone well.
func (s *Sizer) Took(n int, began time.Time, why fault.Class) {
	if why == fault.Locked {
		s.Rest(began)
	}
	switch {
	case n > 1 && why.OfRow():
		s.most = max(n/Parts, 1)
	case why == fault.None && s.most > 0:
		if s.most *= 2; s.most >= Batch {
			s.most = 0
		}
	}
}

// Batch is how many of n rows are changed in the next statement.
func (s *Sizer) Batch(n int) int { return min(n, cmp.Or(s.most, Batch)) }
