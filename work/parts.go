package work

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// What a scan brings at once, and how many due tasks are known at most: 16 bytes each. Beyond that
// there is a window by plan. Where nothing else is to be done between the parts of a scan they
// grow, as long as one takes less than scanPart: at the end of each either side waits for the
// other. Else a part that takes longer than dutyPart makes the next one smaller.
const (
	scanChunk   = 20_000
	scanLargest = 8 * scanChunk
	scanLeast   = 100
	scanPart    = 500 * time.Millisecond
	scanMost    = 1_000_000
)

// scanAtOnce is how long the scan at the begin of a term keeps all from starting on account of what
// is lengthy.
const scanAtOnce = 2 * time.Second

// visibility is how long a transaction may last whose tasks, planned for when it wrote them, are
// found at once where there is so much due that not all of it can be looked at each time.
const visibility = time.Second

// place is how far a scan has come, in the order of plans, and then among the tasks that it has put
// off.
type place struct {
	active, full bool
	begun        bool // its first part has been asked for
	atOnce       bool // there is nothing else to do meanwhile
	chunk        int  // rows of the next part
	plan         pgtype.Timestamptz
	id           int64
	began        time.Time     // by our clock
	asked        time.Time     // by the server's
	spent        time.Duration // by the server, on its parts
	again        bool          // what it has left out may start now
	held         int           // tasks that it has left out: their group is paused
	taken        int           // tasks that it has brought, but for those held
	passed       bool          // only lengthy is left,
	lengthy      []int64       // tasks whose group or remote is long
	owed         bool          // its next part comes before a look for what is new,
	missed       bool          // and such a look has left out some that are lengthy
}

// scan begins to look at all that is due; at once tells to go through with it, else there is other
// work between its parts, and before the rest of what is lengthy in any case.
func (l *loop) scan(ctx context.Context, atOnce bool) error {
	l.startScan(atOnce)
	for {
		if err := l.scanOn(ctx, &l.scanning); err != nil || !l.scanning.active || !l.scanning.atOnce {
			return err
		}
	}
}

// startScan begins to look at all that is due.
func (l *loop) startScan(atOnce bool) {
	l.Lanes.Fill()
	l.overdue, l.look.missing = nil, 0 // it finds them again
	l.look.wanted, l.look.later = false, false
	l.scanning = l.placeFrom(pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}, math.MaxInt64) // behind what is unplanned
	l.scanning.full, l.scanning.atOnce = true, atOnce
}

// lookForNew begins to look only for what has become due, or has come, since the last scan began.
func (l *loop) lookForNew() place {
	l.look.wanted, l.look.later = false, true
	return l.placeFrom(pgtype.Timestamptz{Valid: true, Time: l.seenUpTo()}, math.MinInt64)
}

// seenUpTo is the time up to which a look has seen the plans of all that is due, by the server's clock.
func (l *loop) seenUpTo() time.Time { return l.look.low.Add(-visibility) }

func (l *loop) placeFrom(plan pgtype.Timestamptz, id int64) place {
	s := place{active: true, chunk: scanChunk, began: time.Now(), asked: l.Clock.Now(), plan: plan, id: id}
	l.look.low = s.asked
	return s
}

// goOn does the next part of the scan under way, or looks for what is new, which that would find
// last: the two take turns.
func (l *loop) goOn(ctx context.Context, due bool) error {
	s := &l.scanning
	if !l.newer.active && !s.owed && (due || l.look.wanted && l.scanDelay() <= 0) {
		l.newer = l.lookForNew()
	}
	if s.owed = l.newer.active; s.owed {
		return l.scanOn(ctx, &l.newer)
	}
	return l.scanOn(ctx, s)
}

// scanOn reads the next part of what is due, and when there is no more, what comes next.
func (l *loop) scanOn(ctx context.Context, s *place) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	var expired []expiring
	var found int
	asked, next, first, passed := time.Now(), l.look.next, !s.begun, s.passed
	defer l.stats.scan.since(asked)
	batch := &pgx.Batch{}
	if first {
		s.begun = true
		l.wake.AskUnseen(batch)
		l.queueUnplanned(batch)
		if s.full {
			l.queueStopping(batch)
		}
	}
	l.queueNext(batch)
	l.queuePart(batch, s).Query(func(rows pgx.Rows) (err error) {
		found, expired, err = l.find(s, rows)
		return err
	})
	if err := l.send(ctx, batch); err != nil {
		return err
	}
	took := time.Since(asked)
	s.spent += took
	if found > 0 {
		l.wake.Found(time.Now())
	}
	if err := l.redescribe(ctx); err != nil {
		return err
	}
	if err := l.plan(ctx); err != nil {
		return err
	}
	gone, err := l.expired(ctx, expired)
	if err != nil {
		return err
	}
	l.overdue = append(l.overdue, gone...)
	if over := l.tookPart(s, found, took); over && !passed {
		l.look.scan = time.Now()
	} else if s == &l.scanning && !s.atOnce {
		// What has become due meanwhile is not what comes next any more.
		l.look.wanted = l.look.wanted || first || !next.IsZero() && l.Clock.Until(next) <= 0
	}
	return nil
}

// queuePart asks for the next part: of all, or, when that is through, of what is lengthy. To tell
// long names apart takes the server up to 0.1 ms each, and there may be a million.
func (l *loop) queuePart(batch *pgx.Batch, s *place) *pgx.QueuedQuery {
	if s.passed {
		return batch.Queue(l.queries().Text("lengthy"), s.lengthy[:min(len(s.lengthy), s.chunk)])
	}
	return batch.Queue(l.queries().Text("scan"), s.plan, s.id, s.chunk)
}

// tookPart takes in that a part is done, and tells whether the scan is over.
func (l *loop) tookPart(s *place, found int, took time.Duration) (over bool) {
	switch more := found == s.chunk; {
	case s.passed:
		s.lengthy = s.lengthy[min(len(s.lengthy), s.chunk):]
	case more && s.taken < scanMost && l.listed() < scanMost:
		s.pace(took, l.listed())
		return false
	default:
		s.passed, s.chunk = true, scanLeast
		if s.full {
			l.look.partial = more
		}
	}
	if s == &l.newer && len(s.lengthy) > 0 {
		l.scanning.missed, s.lengthy = true, nil
	}
	if len(s.lengthy) == 0 {
		l.endScan(s)
		return true
	}
	if s.atOnce && time.Since(s.began) > scanAtOnce {
		l.Lanes.Filled()
		s.atOnce, l.look.wanted = false, true
	}
	s.pace(took, l.listed())
	return false
}

// endScan ends a scan.
func (l *loop) endScan(s *place) {
	s.active = false
	if s == &l.scanning {
		l.look.low, l.look.wanted = s.asked, l.look.wanted || s.missed
	}
	if s.full {
		l.Lanes.Filled()
		l.unpark()
		if l.look.full = time.Now(); s.again {
			l.look.full = time.Time{}
		}
		l.look.fullTook, l.look.held = time.Since(s.began), s.held
		l.tellOfSlow(s.spent)
	}
}

// pace decides how large the next part is.
func (s *place) pace(took time.Duration, listed int) {
	switch {
	case s.atOnce && !s.passed:
		if took < scanPart {
			s.chunk = min(2*s.chunk, scanLargest, max(scanMost-listed, scanChunk))
		}
	case took > dutyPart:
		s.chunk = max(s.chunk/2, scanLeast)
	case took < dutyPart/2:
		s.chunk = min(2*s.chunk, scanChunk)
	}
}
