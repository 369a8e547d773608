package hold

import (
	"cmp"
	"time"

	"pgtaskd/exec/fault"
)

const (
	// Batch is how many rows one statement changes or reads at most.
	Batch = 500
	// Parts is how many parts a refused change is split into: if each of a thousand rows is refused,
	// that takes not many more statements than a thousand.
	Parts = 8
	// Turn is how long a duty works at once on what may be a million: other duties come in between.
	Turn = 50 * time.Millisecond

	lockShare = 14 // waits for locks take less than half of the loop's time
)

// Sizer says how many rows the next statement changes, which the table may refuse, or somebody's lock
// may hold up. Each kind of statement has its own.
type Sizer struct {
	most  int       // rows, since a statement with more has failed; 0: as many as may be
	until time.Time // until then nothing is tried that met a lock, or is slow
}

// Rests tells that nothing is tried now that met a lock.
func (s *Sizer) Rests() bool { return time.Now().Before(s.until) }

// Until is when that may be tried.
func (s *Sizer) Until() time.Time { return s.until }

// Rest makes what met a lock, or is slow, wait in proportion to what one took that began then.
func (s *Sizer) Rest(began time.Time) { s.until = time.Now().Add(lockShare * time.Since(began)) }

// Late tells that the rest of a change that began then is left for the next time.
func (s *Sizer) Late(began time.Time) bool {
	return (s.most > 0 || s.Rests()) && time.Since(began) >= Turn
}

// Took takes note of a change of n rows that began then. After a failure the next changes are of
// fewer rows, until some have gone well.
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
