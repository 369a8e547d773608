package work

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// What a scan brings at once, and how many due tasks are known at most: 16 bytes each. Beyond that
// there is a window by plan. A part takes some milliseconds; where the names of all lanes are long, each
// up to 0.1 ms.
const (
	scanChunk = 2000
	scanMost  = 1_000_000
)

// scanAtOnce is how long the scan at the begin of a term keeps all from starting.
const scanAtOnce = 5 * time.Second

// visibility is how long a transaction may last whose tasks, planned for when it wrote them, are
// found at once where there is so much due that not all of it can be looked at each time.
const visibility = time.Second

// place is how far a scan has come, in the order of plans.
type place struct {
	active, full bool
	begun        bool // its first part has been asked for
	atOnce       bool // there is nothing else to do meanwhile
	plan         pgtype.Timestamptz
	id           int64
	began        time.Time // by our clock
	asked        time.Time // by the server's
	again        bool      // what it has left out may start now
	held         int       // tasks that it has left out: their group is paused
	taken        int       // tasks that it has brought, but for those held
}

// scan begins to look at all that is due; at once tells to go through with it, else there is other
// work between its parts, and before the rest of what takes long in any case.
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
	l.runs.Lanes.Fill()
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
	s := place{active: true, began: time.Now(), asked: l.runs.Clock.Now(), plan: plan, id: id}
	l.look.low = s.asked
	return s
}

// goOn does the next part of the scan under way, and looks before that for what is new, which the
// scan would find last.
func (l *loop) goOn(ctx context.Context, due bool) error {
	if due || l.look.wanted && l.scanDelay() <= 0 {
		newer := l.lookForNew()
		if err := l.scanOn(ctx, &newer); err != nil {
			return err
		}
	}
	return l.scanOn(ctx, &l.scanning)
}

// scanOn reads the next part of what is due, and when there is no more, what comes next.
func (l *loop) scanOn(ctx context.Context, s *place) error {
	var expired []expiring
	var found int
	next, first := l.look.next, !s.begun
	batch := &pgx.Batch{}
	if first {
		s.begun = true
		l.wake.AskUnseen(batch)
		l.planner.Queue(batch)
		if s.full {
			l.judge.Orphans.QueueStopping(batch)
		}
	}
	l.queueNext(batch)
	l.control.Queue(batch, "scan", s.plan, s.id, scanChunk).Query(func(rows pgx.Rows) (err error) {
		found, expired, err = l.find(s, rows)
		return err
	})
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	if found > 0 {
		l.wake.Found(time.Now())
	}
	if err := l.redescribe(ctx); err != nil {
		return err
	}
	if first {
		if err := l.planner.Step(ctx); err != nil {
			return err
		}
	}
	gone, err := l.expired(ctx, expired)
	if err != nil {
		return err
	}
	l.overdue = append(l.overdue, gone...)
	more := found == scanChunk
	if more && s.atOnce && time.Since(s.began) > scanAtOnce {
		s.atOnce, l.look.wanted = false, true
	}
	if !more || s.taken >= scanMost || l.listed() >= scanMost {
		l.endScan(s, more)
	} else if s == &l.scanning && !s.atOnce {
		// What has become due meanwhile is not what comes next any more.
		l.look.wanted = l.look.wanted || first || !next.IsZero() && l.runs.Clock.Until(next) <= 0
	}
	return nil
}

// endScan ends a scan; partial tells that there is more.
func (l *loop) endScan(s *place, partial bool) {
	s.active, l.look.scan = false, time.Now()
	if s == &l.scanning {
		l.look.low = s.asked
	}
	if s.full {
		l.runs.Lanes.Filled()
		l.holds.Sweep()
		if l.look.full = time.Now(); s.again {
			l.look.full = time.Time{}
		}
		l.look.partial, l.look.fullTook, l.look.held = partial, time.Since(s.began), s.held
	}
}
