package work

import (
	"context"
	"time"

	"pgtaskd/work/wake"
)

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the
// time: they cost more than looking whether anything is due.
const columnsTick = 50 * time.Millisecond

func (l *loop) columnsDue() bool { return !l.wake.Awake() || time.Since(l.look.columns) >= columnsTick }

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
	l.rolePath.Store(found.Path)
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
	l.look.full = time.Time{} // nothing may have told us of new tasks meanwhile
	l.leads.Renew()
	return nil
}

// used tells whether tasks have ever been written to the table: then pauses may be under way.
func (l *loop) used(ctx context.Context) (used bool, err error) {
	err = l.control.Row(ctx, "used", nil, &used, &l.crashed)
	return used, err
}
