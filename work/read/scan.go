package read

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/wake"
)

// Scan looks for tasks that are due.
type Scan struct {
	Control *control.Control
	Holds   *hold.Holds
	Tasks   inflight.Tasks
	Lanes   *lane.Lanes[*run.Task]
	Clock   *run.Clock
	Wake    *wake.Waker
	Groups  *Groups
	Expire  *Expire

	Every   func() time.Duration                            // the longest time between two looks at all that is due
	Alone   func(context.Context) (started bool, err error) // starts the task that is due, if it may be alone
	Ask     func(batch *pgx.Batch, full bool)               // adds others' questions to the first part of a look; full: at all
	Columns func(batch *pgx.Batch)                          // asks, from time to time, what the table is like
	Asked   func(ctx context.Context, first bool) error     // follows on the answers to a part of a look
	Adopt   func(id int64, key lane.Key)                    // takes a task that is under way, and not ours

	looks looks
	place place // where the look under way goes on
}

// Begin looks at all that is due, as far as that can be done at once: a term begins.
func (s *Scan) Begin(ctx context.Context) error { return s.scan(ctx, true) }

// Clear forgets all: a term begins, or has ended.
func (s *Scan) Clear() { s.looks, s.place = looks{}, place{} }

// Want has the next round look for what has become due.
func (s *Scan) Want() { s.looks.wanted = true }

// All has the next round look at all that is due.
func (s *Scan) All() { s.looks.full = time.Time{} }

// Changed tells that somebody has changed rows that wait: one may have another place in its lane.
func (s *Scan) Changed() { s.looks.changed = true }

// Resumed has it look at all that is due: tasks that a pause has held back may start.
func (s *Scan) Resumed() {
	s.All()
	s.place.again = s.place.active
}

// Rest gives up the look under way: we drain.
func (s *Scan) Rest() {
	s.Wake.News(s.looks.last)
	s.looks.wanted, s.place = false, place{}
}

// Active tells whether a look is under way.
func (s *Scan) Active() bool { return s.place.active }

// Pending tells whether there is something to look at.
func (s *Scan) Pending() bool { return s.looks.wanted || s.looks.later || s.place.active }

// Partial tells that not all that is due is known.
func (s *Scan) Partial() bool { return s.looks.partial }

// seenUpTo is the time up to which a look has seen the plans of all that is due, by the server's
// clock.
func (s *Scan) seenUpTo() time.Time { return s.looks.low.Add(-visibility) }

// listed is how many tasks are known that are due, with those that are to be given up.
func (s *Scan) listed() int {
	_, _, ready := s.Lanes.Load()
	return ready + s.Expire.Len()
}

// StartedAlone takes down that it was started: other news may wait for a moment.
func (s *Scan) StartedAlone() {
	s.looks.last = time.Now()
	s.Wake.Found(s.looks.last)
	s.Wake.LookLater(s.looks.last)
}

// Step takes in the news that have woken the loop, and looks for tasks that have become due, if there is
// a reason to.
func (s *Scan) Step(ctx context.Context) error {
	now := time.Now()
	if rest, ok := s.Holds.Next(s.looks.full); ok && rest <= 0 {
		s.Want()
	}
	heard := s.Wake.News(s.looks.last)
	s.looks.wanted = s.looks.wanted || heard
	due := !s.looks.next.IsZero() && s.Clock.Until(s.looks.next) <= 0
	if heard || due {
		if started, err := s.Alone(ctx); started || err != nil {
			return err
		}
	}
	switch choose(s.view(now, due)) {
	case nextPart:
		return s.goOn(ctx, due)
	case all:
		return s.scan(ctx, false)
	case news:
		s.place = s.lookForNew()
		return s.scanOn(ctx, &s.place)
	}
	return nil
}

func (s *Scan) view(now time.Time, due bool) view {
	full, listed := now.Sub(s.looks.full), s.listed()
	return view{
		active: s.place.active,
		stale:  full >= s.Every() || s.looks.partial && listed < scanMost/2,
		wanted: s.looks.wanted, later: s.looks.later, due: due,
		rested: full >= s.rest(listed), paused: s.pause() > 0,
	}
}

// rest is how long all that is due is not looked at again. If rows have changed and few are due, that is
// at most half the time, in a flood of notifications less: many get their new place by and by.
func (s *Scan) rest(listed int) time.Duration {
	rest := s.looks.rest(listed)
	if s.looks.changed && listed+s.looks.held <= hold.Batch {
		rest = min(rest, max(s.looks.took, s.Wake.Pause()))
	}
	return rest
}

// pause is how long a look that is wanted has to wait.
func (s *Scan) pause() time.Duration { return s.Wake.Pause() - time.Since(s.looks.last) }

// Next is when something may have become due that we do not know, or all has to be looked at. In a drain
// only a wanted look counts.
func (s *Scan) Next(drains bool) time.Duration {
	noticed, urgent := s.Wake.Noticed()
	if urgent || s.place.active {
		return 0
	}
	next := s.Every() - time.Since(s.looks.full)
	if s.looks.wanted || noticed {
		next = min(next, s.pause())
	}
	if !drains {
		next = min(next, s.Wake.Rest(s.looks.last))
	}
	if s.looks.later {
		next = min(next, s.rest(s.listed())-time.Since(s.looks.full))
	}
	if !s.looks.next.IsZero() {
		next = min(next, s.Clock.Until(s.looks.next)+ClockMargin)
	}
	if rest, ok := s.Holds.Next(s.looks.full); ok {
		next = min(next, rest)
	}
	return next
}

// ClockMargin is how much later than the server's clock says something is looked at.
const ClockMargin = 200 * time.Microsecond

// QueueNext asks for the server's clock and the earliest plan to come, and from time to time what the
// table is like, which costs more.
func (s *Scan) QueueNext(batch *pgx.Batch) {
	asked := time.Now()
	s.Control.Queue(batch, "next").QueryRow(func(row pgx.Row) error {
		var now time.Time
		var next pgtype.Timestamptz
		if err := row.Scan(&now, &next); err != nil {
			return err
		}
		s.Clock.Set(now, asked, time.Now())
		s.looks.next = next.Time
		return nil
	})
	s.Columns(batch)
}

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
	changed    bool          // somebody has changed rows since a look at all that is due began
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
