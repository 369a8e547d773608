package read

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// Scan finds due tasks and adds them to the lanes. A full scan reads all due tasks; a look at the
// news reads only those that have become due since the last look.
type Scan struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Tasks   inflight.Tasks
	Lanes   *lane.Lanes[*run.Task]
	Clock   *run.Clock
	Wake    *wake.Waker
	Groups  *Groups
	Expire  *Expire
	Live    *atomic.Pointer[target.Live]
	Reset   time.Duration // the longest time between two full scans

	Alone   func(context.Context) (started bool, err error) // starts the due task, if it may be the only one
	Ask     func(batch *pgx.Batch, full bool)               // adds other rooms' questions to the first part of a look
	Columns func(batch *pgx.Batch)                          // asks, from time to time, for the table's columns
	Asked   func(ctx context.Context, first bool) error     // handles the answers to Ask and Columns
	Adopt   func(id int64, key lane.Key)                    // takes over a task that is under way and not ours

	looks looks
	place place // of the look under way, if there is one
}

// Begin starts a full scan at the start of a term, and reads as many parts as scanAtOnce allows.
func (s *Scan) Begin(ctx context.Context) error {
	for s.place = s.startAll(); s.Active(); {
		if more, err := s.readPart(ctx, &s.place); err != nil {
			return err
		} else if more && time.Since(s.place.began) > scanAtOnce {
			s.Changes.Want()
			break
		}
	}
	return nil
}

// Clear forgets everything. Call it when a term begins or ends.
func (s *Scan) Clear() {
	s.Changes.Looks()
	s.looks, s.place = looks{}, place{}
}

// All makes the next round start a full scan.
func (s *Scan) All() { s.looks.full = time.Time{} }

// Changed records that somebody has changed rows that wait: their order in the lanes may be wrong.
func (s *Scan) Changed() { s.looks.changed = true }

// Resumed asks for a full scan, because paused tasks may start now.
func (s *Scan) Resumed() {
	s.All()
	s.place.again = true
}

// GiveUp gives up the look under way, because the target drains.
func (s *Scan) GiveUp() {
	s.Wake.News(s.looks.last)
	s.Changes.Looks()
	s.place = place{}
}

// Active tells whether a look is under way.
func (s *Scan) Active() bool { return s.place.look != nothing }

// Pending tells whether a look is wanted or under way.
func (s *Scan) Pending() bool { return s.Changes.Wants() || s.looks.followUp || s.Active() }

// Partial tells that some due tasks are not known.
func (s *Scan) Partial() bool { return s.looks.partial }

// seenUpTo returns the time, by the server's clock, up to which plans were seen. It leaves a margin
// for transactions that commit late.
func (s *Scan) seenUpTo() time.Time { return s.looks.low.Add(-visibility) }

// listed returns the number of known due tasks, including those to give up.
func (s *Scan) listed() int {
	_, _, ready := s.Lanes.Load()
	return ready + s.Expire.Len()
}

// StartedAlone records that Alone has started a task: other news may wait for a moment.
func (s *Scan) StartedAlone() {
	s.looks.last = time.Now()
	s.Wake.Found(s.looks.last)
	s.Wake.LookLater(s.looks.last)
}

// Step takes in the news that woke the loop, and looks for due tasks if there is a reason to. While
// a look is under way, it reads the next part of that, and before it, if wanted, some of the news.
func (s *Scan) Step(ctx context.Context) error {
	now := time.Now()
	if rest, ok := s.Holds.Next(s.looks.full); ok && rest <= 0 {
		s.Changes.Want()
	}
	heard := s.Wake.News(s.looks.last)
	if heard {
		s.Changes.Want()
	}
	due := !s.looks.next.IsZero() && s.Clock.Until(s.looks.next) <= 0
	if heard || due {
		if started, err := s.Alone(ctx); started || err != nil {
			return err
		}
	}
	if s.Active() {
		if due || s.Changes.Wants() && s.pause() <= 0 {
			newer := s.startNews() // the look under way would find them last
			if _, err := s.readPart(ctx, &newer); err != nil {
				return err
			}
		}
		return s.nextPart(ctx)
	}
	switch choose(s.view(now, due)) {
	case all:
		s.place = s.startAll()
	case news:
		s.place = s.startNews()
	default:
		return nil
	}
	return s.nextPart(ctx)
}

func (s *Scan) view(now time.Time, due bool) view {
	full, listed := now.Sub(s.looks.full), s.listed()
	return view{
		stale:  full >= s.every() || s.looks.partial && listed < scanMost/2,
		wanted: s.Changes.Wants(), followUp: s.looks.followUp, due: due,
		rested: full >= s.restAfterFull(listed), paused: s.pause() > 0,
	}
}

// restAfterFull returns the least time from one full scan to the next. If rows have changed and few tasks
// are due, it is short, and full scans may take half the time (less in a flood of notifications).
// With many due tasks it stays long, and changed rows get their new place later.
func (s *Scan) restAfterFull(listed int) time.Duration {
	rest := s.looks.rest(listed)
	if s.looks.changed && listed+s.looks.held <= hold.Batch {
		rest = min(rest, max(s.looks.took, s.Wake.Pause()))
	}
	return rest
}

// every returns how often to scan all due tasks when nothing reports new ones.
func (s *Scan) every() time.Duration { return min(s.Wake.Every(s.Live.Load().Sleep), s.Reset) }

// pause returns how long a wanted look must wait.
func (s *Scan) pause() time.Duration { return s.Wake.Pause() - time.Since(s.looks.last) }

// Next returns the time until the next look. In a drain it leaves out Wake.Rest: the leader does
// not look for new tasks of its own accord.
func (s *Scan) Next(drains bool) time.Duration {
	noticed, urgent := s.Wake.Noticed()
	if urgent || s.Active() {
		return 0
	}
	next := s.every() - time.Since(s.looks.full)
	if s.Changes.Wants() || noticed {
		next = min(next, s.pause())
	}
	if !drains {
		next = min(next, s.Wake.Rest(s.looks.last))
	}
	if s.looks.followUp {
		next = min(next, s.restAfterFull(s.listed())-time.Since(s.looks.full))
	}
	if !s.looks.next.IsZero() {
		next = min(next, s.Clock.Until(s.looks.next)+ClockMargin)
	}
	if rest, ok := s.Holds.Next(s.looks.full); ok {
		next = min(next, rest)
	}
	return next
}

// Plan returns the time until the earliest plan to come.
func (s *Scan) Plan() time.Duration {
	if s.looks.next.IsZero() {
		return hold.Never
	}
	return s.Clock.Until(s.looks.next)
}

// ClockMargin is added to times of the server's clock, so that a look does not come too early.
const ClockMargin = 200 * time.Microsecond

// QueueNext asks for the server's clock and the earliest plan to come. From time to time it also
// asks for the table's columns, which costs more.
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

// look is what a look at the table reads.
type look int

const (
	nothing look = iota
	all          // a full scan: all due tasks
	news         // only tasks that have become due, or were inserted, since the last look began
)

// view is the input of choose.
type view struct {
	stale    bool // the last full scan was long ago, or it left out tasks and there is room for them now
	wanted   bool // a task may have become due
	followUp bool // a full scan must follow a look at the news
	due      bool // the time of the next plan has come
	rested   bool // a full scan now would keep to its share of the time
	paused   bool // the last look was a moment ago
}

// choose picks the next look, if none is under way: a full scan if that does not take too much
// time, else a look at the news, which is always cheap.
func choose(v view) look {
	switch {
	case v.stale, (v.wanted || v.followUp || v.due) && v.rested:
		return all
	case v.due, v.wanted && !v.paused:
		return news
	}
	return nothing
}

// looks is the memory of the looks of one term.
type looks struct {
	full, last time.Time     // end of the last full scan, and of the last look of any kind, by our clock
	took       time.Duration // duration of the last full scan
	low        time.Time     // start of the last look that began or ended, by the server's clock
	next       time.Time     // the earliest plan to come; zero: there is none
	followUp   bool          // a look at the news was made: a full scan follows when its rest is over
	changed    bool          // somebody has changed rows since the last full scan began
	partial    bool          // some due tasks are not known
	missing    int           // since the last full scan: tasks whose rows were missing, minus tasks that were read
	held       int           // due tasks that were left out because their group is paused
}

const (
	// scanShare: full scans may take one part in scanShare of the time.
	scanShare = 20
	// slowRest is the longest rest after a full scan if few tasks are known. A task whose
	// transaction committed long after the insert waits for the next full scan.
	slowRest = 3 * time.Second
)

// rest returns how long the leader waits before the next full scan, if it knows so many tasks.
func (l *looks) rest(listed int) time.Duration {
	known := time.Duration(listed + l.held)
	return min(scanShare*l.took, max(slowRest, scanShare*known*10*time.Microsecond))
}

// misses records how many tasks were missing and how many were read. It tells whether to start a
// full scan, as somebody may have deleted many of the known tasks.
func (l *looks) misses(missing, read, listed int) bool {
	l.missing = max(0, l.missing+missing-read)
	return l.missing >= hold.Batch && time.Since(l.full) >= max(time.Second, l.rest(listed)/(scanShare/2))
}
