package read

import (
	"time"

	"pgtaskd/work/hold"
)

// look is what is looked at next.
type look int

const (
	nothing  look = iota
	nextPart      // of the look under way
	all           // that is due
	news          // what has become due, or has come, since the last look began
)

// view is what the choice of the next look goes by.
type view struct {
	active bool // a look is under way, in parts
	stale  bool // all that is due was not looked at for long, or not all of it is known
	wanted bool // something may have become due,
	later  bool // or only the news were looked at, since the last look at all
	due    bool // the time of the next plan has come
	rested bool // looking at all again takes no more than its share of the time
	paused bool // the last look was a moment ago
}

// choose chooses the next look: at all that is due if that does not take too much time, else at the
// news, which is always possible.
func choose(v view) look {
	switch {
	case v.active:
		return nextPart
	case v.stale, (v.wanted || v.later || v.due) && v.rested:
		return all
	case v.due, v.wanted && !v.paused:
		return news
	}
	return nothing
}

// looks are what is known of the looks of a term.
type looks struct {
	full, last time.Time     // when all that is due was looked at, and when anything was, by our clock
	took       time.Duration // a look at all that is due
	low        time.Time     // plans before this were seen, by the server's clock
	next       time.Time     // the earliest plan to come, zero: there is none
	wanted     bool          // something may have become due
	later      bool          // only the news were looked at: all that is due when it may be
	partial    bool          // not all that is due is known
	missing    int           // tasks that were not there to be read since, more than were
	held       int           // due tasks that were left out: their group is paused
}

const (
	// scanShare is the part of the time that looking at all that is due may take: one in twenty.
	scanShare = 20
	// slowRest is how long the leader rests at most after a look at all that is due, if that is little: a
	// task that was written long before its COMMIT waits for that look.
	slowRest = 3 * time.Second
)

// rest is how long the leader does not look at all that is due again, if so much is known: looking takes
// its share of the time and no more.
func (l *looks) rest(listed int) time.Duration {
	known := time.Duration(listed + l.held)
	return min(scanShare*l.took, max(slowRest, scanShare*known*10*time.Microsecond))
}

// misses takes down how many tasks were not there to be read, and how many were. It tells whether most
// of the known ones may be gone: somebody may have deleted many.
func (l *looks) misses(missing, read, listed int) bool {
	l.missing = max(0, l.missing+missing-read)
	return l.missing >= hold.Batch && time.Since(l.full) >= max(time.Second, l.rest(listed)/(scanShare/2))
}
