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
	// scanChunk is the number of tasks in one part of a scan. A part takes some milliseconds; if
	// the names of all lanes are long, up to 0.1 ms a task.
	scanChunk = 2000
	// scanMost is the most due tasks that are known, at 16 bytes each. If more are due, the leader
	// knows only those with the earliest plans.
	scanMost = 1_000_000
	// scanAtOnce is how long the scan at the start of a term may keep all tasks from starting.
	scanAtOnce = 5 * time.Second
	// visibility is how far a look at the news goes back: a transaction that inserts a task due at
	// once may take so long to commit. Full scans find later ones.
	visibility = time.Second
)

// place is the position of a look, in the order of plans.
type place struct {
	look  look // nothing: it has ended
	plan  pgtype.Timestamptz
	id    int64
	asked time.Time // by the server's clock
	began time.Time // when the first part was asked for, by our clock; zero: it was not
	again bool      // a pause has ended: scan again, for the tasks that were left out
	held  int       // tasks that were left out because their group is paused
	taken int       // tasks that were added to the lanes
}

// startAll starts a full scan: it reads all due tasks.
func (s *Scan) startAll() place {
	s.Lanes.Fill()
	s.Expire.Clear() // the scan finds these tasks again
	s.Changes.Looks()
	s.looks.missing, s.looks.followUp, s.looks.changed = 0, false, false
	first := pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}
	return s.placeFrom(all, first, math.MaxInt64) // after the tasks that have no plan yet
}

// startNews starts a look at the news: it reads only plans from seenUpTo on.
func (s *Scan) startNews() place {
	s.Changes.Looks()
	s.looks.followUp = true
	return s.placeFrom(news, pgtype.Timestamptz{Valid: true, Time: s.seenUpTo()}, math.MinInt64)
}

func (s *Scan) placeFrom(look look, plan pgtype.Timestamptz, id int64) place {
	s.looks.low = s.Clock.Now()
	return place{look: look, plan: plan, id: id, asked: s.looks.low}
}

// nextPart reads the next part of the look under way. Unless that ends the look, it wants the news
// after the first part, and after a plan has come: that plan is not in looks.next any more.
func (s *Scan) nextPart(ctx context.Context) error {
	next, first := s.looks.next, s.place.began.IsZero()
	_, err := s.readPart(ctx, &s.place)
	if err == nil && s.Active() && (first || !next.IsZero() && s.Clock.Until(next) <= 0) {
		s.Changes.Want()
	}
	return err
}

// readPart reads the next part of a look, and the next plan. more: there may be more due tasks.
func (s *Scan) readPart(ctx context.Context, p *place) (more bool, err error) {
	var expired []expiring
	var found int
	first := p.began.IsZero()
	batch := &pgx.Batch{}
	if first {
		p.began = time.Now()
		s.Wake.AskUnseen(batch)
		s.Ask(batch, p.look == all)
	}
	s.QueueNext(batch)
	s.Control.Queue(batch, "scan", p.plan, p.id, scanChunk).Query(func(rows pgx.Rows) (err error) {
		found, expired, err = s.find(p, rows)
		return err
	})
	if err := s.Control.Send(ctx, batch); err != nil {
		return false, err
	}
	if found > 0 {
		s.Wake.Found(time.Now())
	}
	if err := s.Asked(ctx, first); err != nil {
		return false, err
	}
	if err := s.Expire.found(ctx, expired); err != nil {
		return false, err
	}
	more = found == scanChunk
	if !more || p.taken >= scanMost || s.listed() >= scanMost {
		s.end(p, more)
	}
	return more, nil
}

// end ends a look. partial: there are more due tasks than were read.
func (s *Scan) end(p *place, partial bool) {
	s.looks.last, s.looks.low = time.Now(), p.asked
	if p.look == all {
		s.Lanes.Filled()
		s.Holds.Sweep()
		if s.looks.full = time.Now(); p.again {
			s.All()
		}
		s.looks.partial, s.looks.took, s.looks.held = partial, time.Since(p.began), p.held
	}
	p.look = nothing
}

// find adds the tasks of one part to the lanes. It returns the number of rows, and the tasks that
// may have expired. There may be a million rows, so it reads the server's bytes.
func (s *Scan) find(p *place, rows pgx.Rows) (found int, expired []expiring, err error) {
	odd := len(s.Tasks)+s.Holds.Len() > 0 // some rows may have to be left out
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
			s.Holds.Forget(r.ID) // it was held for good, but somebody has changed its state
		}
		switch {
		case odd && s.Tasks[r.ID] != nil: // already read, or running
		case underWay:
			s.Adopt(r.ID, lane.KeyOf(string(v[1]), string(v[2])))
		case odd && s.Holds.Waits(r.ID):
		case over != nil && !s.Groups.outlives(string(v[1]), micros(integer(over))):
			expired = append(expired, expiring{r.ID, string(v[1]), micros(integer(over))})
		case s.Lanes.Limits.Holds(v[1]): // there may be many: a scan finds them when the pause has ended
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

// expiring is a task whose active has passed since its plan. A pause may have held it back.
type expiring struct {
	id     int64
	group  string // the key of the group, as lane.KeyOf takes it
	active time.Duration
}

// Expire gives up tasks that have not started in time.
type Expire struct {
	Changes *change.Changer
	Groups  *Groups
	Stats   *target.Stats

	overdue []int64
}

// Len returns the number of tasks to give up.
func (e *Expire) Len() int { return len(e.overdue) }

// Clear forgets the tasks. A full scan finds them again.
func (e *Expire) Clear() { e.overdue = nil }

// Next returns 0 if there are tasks to give up, else hold.Never.
func (e *Expire) Next() time.Duration {
	if len(e.overdue) == 0 {
		return hold.Never
	}
	return 0
}

// found records the expired tasks, except those that a pause has held back. It reads the limits of
// groups first, as a task may be newer than the known limits. If it cannot read them, the next full
// scan finds the tasks again.
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

// Step gives up some tasks, for up to hold.Turn: there may be a million, and repetitions and
// notifications may follow from each.
func (e *Expire) Step(ctx context.Context) error {
	for began := time.Now(); len(e.overdue) > 0 && time.Since(began) < hold.Turn; {
		some := e.overdue[:min(len(e.overdue), hold.Batch)]
		left, err := e.Changes.EachWithWords(ctx, some, func(some []int64, mute bool) error {
			gone, err := e.Changes.Tasks(ctx, "expire", some, mute)
			if err == nil {
				e.Changes.Ended(gone)
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
