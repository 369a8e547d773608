package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
	"pgtaskd/work/wake"
)

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the
// time: they cost more than looking whether anything is due.
const columnsTick = 50 * time.Millisecond

func (l *loop) columnsDue() bool {
	return !l.wake.Awake() || time.Since(l.looked.columns) >= columnsTick
}

// comesNext reads the server's clock and the earliest plan to come: it is our sign of life, where the
// control session has been silent for long, or it has not been seen for long what the table is like.
func (l *loop) comesNext(ctx context.Context) error {
	batch := &pgx.Batch{}
	l.scan.QueueNext(batch)
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	return l.redescribe(ctx)
}

// queueColumns asks, from time to time, what the table is like: that costs more than other questions.
func (l *loop) queueColumns(batch *pgx.Batch) {
	if l.columnsDue() {
		l.control.Queue(batch, "columns", l.target.Schema, l.target.Table).QueryRow(l.readColumns)
	}
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
	if l.looked.columns = time.Now(); columns != nil {
		l.table.Sees(*columns)
	}
	return nil
}

// install has the table completed and looked at, takes up what it is like, and listens.
func (l *loop) install(ctx context.Context) error {
	found, err := l.table.Look(ctx)
	if err != nil {
		return err
	}
	c := l.control
	c.Describe(found.Table)
	queries := c.Queries()
	l.runs.Queries.Store(&queries)
	l.ledger.Follow(found.Path)
	path := "pg_catalog, pg_temp"
	if found.Path != nil {
		path = *found.Path
	}
	if err := c.Follow(ctx, path); err != nil {
		return err
	}
	return l.wake.Adopt(ctx, wake.Control{Conn: c.Conn(), Notices: &l.notices, Queries: queries}, found.Way, found.Table.Waking)
}

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// what has been dropped may be missing.
func (l *loop) redescribe(ctx context.Context) error {
	if !l.table.Changed() {
		return nil
	}
	if err := l.install(ctx); err != nil {
		return err
	}
	l.scan.All() // nothing may have told us of new tasks meanwhile
	l.leads.Renew()
	return nil
}

// used tells whether tasks have ever been written to the table: then pauses may be under way.
func (l *loop) used(ctx context.Context) (used bool, err error) {
	err = l.control.Row(ctx, "used", nil, &used, &l.crashed)
	l.prefetch.Begin(l.crashed)
	return used, err
}
