package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
)

// scanShare is the part of the time that looking at all that is due may take: one in twenty.
const scanShare = 20

// slowRest is how long the leader rests at most after a look at all that is due where little is: who
// has written a task long before the COMMIT waits for that look.
const slowRest = 3 * time.Second

// rescan takes in what has woken the loop, and looks for tasks that have become due, as far as there
// is reason to.
func (l *loop) rescan(ctx context.Context) error {
	if !l.draining.IsZero() {
		l.wake.TakeNotice()
		l.look.wanted, l.scanning = false, place{}
		return nil
	}
	now := time.Now()
	if rest, ok := l.holds.Next(l.look.full); ok && rest <= 0 {
		l.look.wanted = true
	}
	news := l.wake.TakeNotice()
	l.look.wanted = l.look.wanted || news
	if l.notices.Changed {
		l.doubt()
	}
	if l.wake.Told(now, l.look.scan) {
		news, l.look.wanted = true, true
	}
	due := !l.look.next.IsZero() && l.runs.Clock.Until(l.look.next) <= 0
	if (news || due) && l.expects() {
		if started, err := l.readAlone(ctx); started || err != nil {
			return err
		}
	}
	stale := now.Sub(l.look.full) >= l.every() || l.look.partial && l.listed() < scanMost/2
	switch {
	case l.scanning.active:
		return l.goOn(ctx, due)
	case stale, (l.look.wanted || l.look.later || due) && now.Sub(l.look.full) >= l.rest():
		return l.scan(ctx, false)
	case due || l.look.wanted && l.scanDelay() <= 0:
		l.scanning = l.lookForNew()
		return l.scanOn(ctx, &l.scanning)
	}
	return nil
}

// doubt takes note that somebody has changed rows: running tasks may have been stopped, and what
// others wait for may have been deleted.
func (l *loop) doubt() {
	l.successors.Doubt()
	l.watch.Doubt()
}

// rest is how long all that is due is not looked at again after a look: so long that looking takes
// its share of the time and no more.
func (l *loop) rest() time.Duration {
	known := time.Duration(l.listed() + l.look.held)
	return min(scanShare*l.look.fullTook, max(slowRest, scanShare*known*10*time.Microsecond))
}

// comesNext reads the server's clock and the earliest plan to come: it is our sign of life, where the
// control session has been silent for long, or it has not been seen for long what the table is like.
func (l *loop) comesNext(ctx context.Context) error {
	batch := &pgx.Batch{}
	l.queueNext(batch)
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	return l.redescribe(ctx)
}

// queueNext asks what comes next, and from time to time what the table is like, which costs more.
func (l *loop) queueNext(batch *pgx.Batch) {
	asked := time.Now()
	l.control.Queue(batch, "next").QueryRow(func(row pgx.Row) error { return l.readNext(row, asked) })
	if l.columnsDue() {
		l.control.Queue(batch, "columns", l.target.Schema, l.target.Table).QueryRow(l.readColumns)
	}
}

func (l *loop) readNext(row pgx.Row, asked time.Time) error {
	var now time.Time
	var next *time.Time
	if err := row.Scan(&now, &next); err != nil {
		return err
	}
	l.runs.Clock.Set(now, asked, time.Now())
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
	l.runs.Foreign.Store(foreign)
	if readOnly {
		return control.ErrReadOnly
	}
	if l.look.columns = time.Now(); columns != nil {
		l.table.Sees(*columns)
	}
	return nil
}

// listed is how many tasks are known that are due, with those that are to be given up.
func (l *loop) listed() int {
	_, _, ready := l.runs.Lanes.Load()
	return ready + len(l.overdue)
}
