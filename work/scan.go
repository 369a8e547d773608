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
// other.
const (
	scanChunk   = 20_000
	scanLargest = 8 * scanChunk
	scanPart    = 500 * time.Millisecond
	scanMost    = 1_000_000
)

// scanShare is the part of the time that looking at all that is due may take: one in twenty.
const scanShare = 20

// visibility is how long a transaction may last whose tasks, planned for when it wrote them, are
// found at once where there is so much due that not all of it can be looked at each time.
const visibility = time.Second

// place is how far the scan under way has come, in the order of plans.
type place struct {
	active, full bool
	begun        bool // its first part has been asked for
	atOnce       bool // there is nothing else to do meanwhile
	chunk        int  // rows of the next part
	plan         pgtype.Timestamptz
	id           int64
	began        time.Time // by our clock
	asked        time.Time // by the server's
	again        bool      // what it has left out may start now
	held         int       // tasks that it has left out: their group is paused, or they are withheld
}

// rescan takes in what has woken the loop, and looks for tasks that have become due, as far as there
// is reason to.
func (l *loop) rescan(ctx context.Context) error {
	if !l.draining.IsZero() {
		l.wake.TakeNotice()
		l.look.wanted, l.scanning = false, place{}
		return nil
	}
	now := time.Now()
	for _, p := range l.parked {
		l.look.wanted = l.look.wanted || !now.Before(p.until) && l.look.full.Before(p.until)
	}
	news := l.wake.TakeNotice()
	l.look.wanted = l.withheld.release() || l.look.wanted || news
	if l.control.notices.Changed {
		l.doubt(now)
	}
	if l.wake.Told(now, l.look.scan) {
		news, l.look.wanted = true, true
	}
	if news && l.expects(now) {
		if started, err := l.readAlone(ctx); started || err != nil {
			return err
		}
	}
	l.resume()
	due := !l.look.next.IsZero() && l.Clock.Until(l.look.next) <= 0
	stale := now.Sub(l.look.full) >= l.every() || l.look.partial && l.listed() < scanMost/2
	switch {
	case l.scanning.active:
		return l.scanOn(ctx)
	case stale, (l.look.wanted || l.look.later || due) && now.Sub(l.look.full) >= l.rest():
		return l.scan(ctx, false)
	case due || l.look.wanted && l.scanDelay() <= 0:
		l.look.wanted, l.look.later = false, true
		l.startScan(false, false)
		return l.scanOn(ctx)
	}
	return nil
}

// beat reads the server's clock and the earliest plan to come, when the control session has been
// silent for long.
func (l *loop) beat(ctx context.Context) error {
	if l.silence() > 0 {
		return nil
	}
	return l.comesNext(ctx)
}

// rest is how long all that is due is not looked at again after a look: so long that looking takes
// its share of the time and no more. Where little is due it is short, even if the last look took
// long because the machine was busy.
func (l *loop) rest() time.Duration {
	return scanShare * min(l.look.fullTook, time.Duration(l.listed()+l.look.held+100)*10*time.Microsecond)
}

// comesNext reads the server's clock and the earliest plan to come; it is our sign of life, too.
func (l *loop) comesNext(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	batch := &pgx.Batch{}
	l.queueNext(batch)
	if err := l.send(ctx, batch); err != nil {
		return err
	}
	return l.redescribe(ctx)
}

// queueNext asks what comes next, and from time to time what the table is like, which costs more.
func (l *loop) queueNext(batch *pgx.Batch) {
	asked := time.Now()
	batch.Queue(l.queries().Text("next")).QueryRow(func(row pgx.Row) error { return l.readNext(row, asked) })
	if l.columnsDue() {
		batch.Queue(l.queries().Text("columns"), l.target.Schema, l.target.Table).QueryRow(l.readColumns)
	}
}

func (l *loop) readNext(row pgx.Row, asked time.Time) error {
	var now time.Time
	var next *time.Time
	if err := row.Scan(&now, &next); err != nil {
		return err
	}
	l.look.spoke = time.Now()
	l.Clock.Set(now, asked, l.look.spoke)
	l.look.next = time.Time{}
	if next != nil {
		l.look.next = *next
	}
	return nil
}

func (l *loop) readColumns(row pgx.Row) error {
	var readOnly, foreign bool
	var queue float64
	var columns *string
	if err := row.Scan(&columns, &readOnly, &foreign, &queue); err != nil {
		return err
	}
	l.wake.QueueIs(queue)
	l.Foreign.Store(foreign)
	if readOnly {
		return errReadOnly
	}
	if columns != nil {
		l.columns, l.look.columns = *columns, time.Now()
	}
	return nil
}

// scan begins to look at all that is due; at once tells to go through with it, else there is other
// work between its parts.
func (l *loop) scan(ctx context.Context, atOnce bool) error {
	l.startScan(true, atOnce)
	for {
		if err := l.scanOn(ctx); err != nil || !l.scanning.active || !atOnce {
			return err
		}
	}
}

func (l *loop) startScan(full, atOnce bool) {
	l.scanning = place{active: true, full: full, atOnce: atOnce, chunk: scanChunk, began: time.Now(), asked: l.Clock.Now()}
	l.scanning.plan = pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}
	l.scanning.id = math.MaxInt64 // behind what is unplanned
	if full {
		l.Lanes.Fill(atOnce)
		l.overdue, l.look.missing = nil, 0 // it finds them again
		l.look.wanted, l.look.later = false, false
		return
	}
	l.scanning.plan, l.scanning.id = pgtype.Timestamptz{Valid: true, Time: l.look.low.Add(-visibility)}, math.MinInt64
}

// scanOn reads the next part of what is due, and when there is no more, what comes next.
func (l *loop) scanOn(ctx context.Context) error {
	s := &l.scanning
	ctx, cancel := limited(ctx)
	defer cancel()
	var expired []expiring
	var found int
	asked := time.Now()
	defer l.stats.scan.since(asked)
	batch := &pgx.Batch{}
	if !s.begun {
		s.begun = true
		l.wake.AskUnseen(batch)
		l.queueUnplanned(batch)
		if s.full {
			l.queueStopping(batch)
		}
	}
	l.queueNext(batch)
	batch.Queue(l.queries().Text("scan"), s.plan, s.id, s.chunk).Query(func(rows pgx.Rows) (err error) {
		found, expired, err = l.find(rows)
		return err
	})
	if err := l.send(ctx, batch); err != nil {
		return err
	}
	l.look.scan = time.Now()
	if found > 0 {
		l.wake.Found(l.look.scan)
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
	listed := l.listed()
	more := found == s.chunk
	if more && listed < scanMost {
		if s.atOnce && time.Since(asked) < scanPart {
			s.chunk = min(2*s.chunk, scanLargest, max(scanMost-listed, scanChunk))
		}
		return nil
	}
	s.active = false
	l.look.low = s.asked
	if s.full {
		l.Lanes.Filled()
		l.unpark()
		if l.look.full = time.Now(); s.again {
			l.look.full = time.Time{}
		}
		l.look.fullTook = time.Since(s.began)
		l.look.partial, l.look.held = more, s.held
	}
	return nil
}

// listed is how many tasks are known that are due, with those that are to be given up.
func (l *loop) listed() int {
	_, _, ready := l.Lanes.Load()
	return ready + len(l.overdue)
}

// unpark forgets the tasks that have been put off long ago: those that are still to be taken have
// been since, or were put off again.
func (l *loop) unpark() {
	for id, p := range l.parked {
		if time.Since(p.until) > time.Minute {
			delete(l.parked, id)
		}
	}
}
