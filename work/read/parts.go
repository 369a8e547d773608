package read

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
	"pgtaskd/work/target"
)

const (
	// scanChunk are the tasks of one part of a scan. It takes some milliseconds; if the names of all lanes
	// are long, up to 0.1 ms a task.
	scanChunk = 2000
	// scanMost is how many due tasks are known at most: 16 bytes each. Beyond that there is a window by
	// plan.
	scanMost = 1_000_000
	// scanAtOnce is how long the scan at the begin of a term keeps all from starting.
	scanAtOnce = 5 * time.Second
	// visibility is how long a transaction may last whose tasks, planned for when it wrote them, a look at
	// the news finds.
	visibility = time.Second
)

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

// scan begins to look at all that is due; atOnce: it goes through with that, unless it takes long. Else
// there is other work between its parts.
func (s *Scan) scan(ctx context.Context, atOnce bool) error {
	s.Lanes.Fill()
	s.Expire.Clear() // it finds them again
	s.looks.missing, s.looks.wanted, s.looks.later, s.looks.changed = 0, false, false, false
	first := pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}
	s.place = s.placeFrom(first, math.MaxInt64) // after what is unplanned
	s.place.full, s.place.atOnce = true, atOnce
	for {
		if err := s.scanOn(ctx, &s.place); err != nil || !s.place.active || !s.place.atOnce {
			return err
		}
	}
}

// lookForNew begins to look only for tasks that have become due, or have come, since the last scan began.
func (s *Scan) lookForNew() place {
	s.looks.wanted, s.looks.later = false, true
	return s.placeFrom(pgtype.Timestamptz{Valid: true, Time: s.seenUpTo()}, math.MinInt64)
}

func (s *Scan) placeFrom(plan pgtype.Timestamptz, id int64) place {
	p := place{active: true, began: time.Now(), asked: s.Clock.Now(), plan: plan, id: id}
	s.looks.low = p.asked
	return p
}

// goOn does the next part of the scan under way. Before that it looks for the news, which the scan would
// find last.
func (s *Scan) goOn(ctx context.Context, due bool) error {
	if due || s.looks.wanted && s.pause() <= 0 {
		newer := s.lookForNew()
		if err := s.scanOn(ctx, &newer); err != nil {
			return err
		}
	}
	return s.scanOn(ctx, &s.place)
}

// scanOn reads the next part of the due tasks, and when the next plan comes.
func (s *Scan) scanOn(ctx context.Context, p *place) error {
	var expired []expiring
	var found int
	next, first := s.looks.next, !p.begun
	batch := &pgx.Batch{}
	if first {
		p.begun = true
		s.Wake.AskUnseen(batch)
		s.Ask(batch, p.full)
	}
	s.QueueNext(batch)
	s.Control.Queue(batch, "scan", p.plan, p.id, scanChunk).Query(func(rows pgx.Rows) (err error) {
		found, expired, err = s.find(p, rows)
		return err
	})
	if err := s.Control.Send(ctx, batch); err != nil {
		return err
	}
	if found > 0 {
		s.Wake.Found(time.Now())
	}
	if err := s.Asked(ctx, first); err != nil {
		return err
	}
	if err := s.Expire.found(ctx, expired); err != nil {
		return err
	}
	more := found == scanChunk
	if more && p.atOnce && time.Since(p.began) > scanAtOnce {
		p.atOnce = false
		s.Want()
	}
	if !more || p.taken >= scanMost || s.listed() >= scanMost {
		s.endScan(p, more)
	} else if p == &s.place && !p.atOnce && (first || !next.IsZero() && s.Clock.Until(next) <= 0) {
		s.Want() // a task that has become due meanwhile is no next one any more
	}
	return nil
}

// endScan ends a scan; partial tells that there is more.
func (s *Scan) endScan(p *place, partial bool) {
	p.active, s.looks.last = false, time.Now()
	if p == &s.place {
		s.looks.low = p.asked
	}
	if p.full {
		s.Lanes.Filled()
		s.Holds.Sweep()
		if s.looks.full = time.Now(); p.again {
			s.All()
		}
		s.looks.partial, s.looks.took, s.looks.held = partial, time.Since(p.began), p.held
	}
}

// find takes note of the tasks that a scan has brought, and returns how many there were, and those
// that are not worth running any more. There may be a million, so it reads the server's bytes.
func (s *Scan) find(p *place, rows pgx.Rows) (found int, expired []expiring, err error) {
	odd := len(s.Tasks)+s.Holds.Len() > 0 // of tasks that would not count
	var due []byte
	for rows.Next() {
		found++
		v := rows.RawValues()
		r := lane.Rank{ID: integer(v[0]), Max: int32(integer(v[3])), Priority: int32(integer(v[4]))}
		p.id = r.ID
		due = append(due[:0], v[5]...)
		over := v[6]
		underWay := over != nil && integer(over) < 0
		if odd && !underWay && s.Holds.IsStuck(r.ID) {
			s.Holds.Forget(r.ID) // it was left alone for good, but somebody has changed its state
		}
		switch {
		case odd && s.Tasks[r.ID] != nil: // it is read already, or runs
		case underWay:
			s.Adopt(r.ID, lane.KeyOf(string(v[1]), string(v[2])))
		case odd && s.Holds.Waits(r.ID):
		case over != nil && !s.Groups.outlives(string(v[1]), micros(integer(over))):
			expired = append(expired, expiring{r.ID, string(v[1]), micros(integer(over))})
		case s.Lanes.Limits.Holds(v[1]): // many may wait for the end of a pause: they are looked for when it has come
			p.held++
		default:
			s.Lanes.Add(v[1], v[2], r)
			p.taken++
		}
	}
	if err := rows.Err(); err != nil || found == 0 {
		return found, expired, err
	}
	return found, expired, s.Control.Conn().TypeMap().Scan(pgtype.TimestamptzOID, pgx.BinaryFormatCode, due, &p.plan)
}

// expiring is a task whose active has passed since its plan.
type expiring struct {
	id     int64
	group  string // what tells it from others, as lane.KeyOf takes it
	active time.Duration
}

// Expire gives up tasks that have not started in time.
type Expire struct {
	Changes *change.Changer
	Groups  *Groups
	Stats   *target.Stats
	Counts  func([]change.Changed) // takes note of those that were given up

	overdue []int64
}

// Len is how many are to be given up.
func (e *Expire) Len() int { return len(e.overdue) }

// Clear forgets them: a look at all that is due finds them again.
func (e *Expire) Clear() { e.overdue = nil }

// Next is when there is something to do.
func (e *Expire) Next() time.Duration {
	if len(e.overdue) == 0 {
		return hold.Never
	}
	return 0
}

// found takes down those of the tasks that no pause has held back. It reads the limits of groups first,
// since a task may be newer than the known ones; if it cannot, the next look at all that is due finds
// the tasks again.
func (e *Expire) found(ctx context.Context, some []expiring) error {
	if len(some) == 0 {
		return nil
	}
	if known, err := e.Groups.refresh(ctx); !known || err != nil {
		return err
	}
	for _, t := range some {
		if !e.Groups.outlives(t.group, t.active) {
			e.overdue = append(e.overdue, t.id)
		}
	}
	return nil
}

// Step gives up some of them: there may be a million, and much may follow on each.
func (e *Expire) Step(ctx context.Context) error {
	for began := time.Now(); len(e.overdue) > 0 && time.Since(began) < hold.Turn; {
		some := e.overdue[:min(len(e.overdue), hold.Batch)]
		left, err := e.Changes.EachWithWords(ctx, some, func(some []int64, mute bool) error {
			gone, err := e.Changes.Tasks(ctx, "expire", some, mute)
			if err == nil {
				e.Counts(gone)
				e.Stats.Skips(target.Expired, change.Repeating(gone))
				e.Changes.PutOffOthers(some, gone)
			}
			return err
		})
		if e.overdue = append(e.overdue[len(some):], left...); err != nil {
			return err
		}
	}
	return nil
}
