package work

import (
	"context"
	"time"

	"pgtask/sql"
)

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the time: they cost more than looking whether
// anything is due.
const columnsTick = 50 * time.Millisecond

func (l *loop) columnsDue() bool { return !l.awake() || time.Since(l.look.columns) >= columnsTick }

// redescribe looks at the table again when it has changed: a repetition copies all columns, and what has been dropped may be missing.
func (l *loop) redescribe(ctx context.Context) error {
	if l.columns == l.described {
		return nil
	}
	if l.described == "" { // we have looked at it just now
		ctx, cancel := limited(ctx)
		defer cancel()
		d, err := sql.Describe(ctx, l.control.conn, table(l.target))
		if err != nil {
			return err
		}
		if d.Fingerprint == l.control.table.Fingerprint {
			l.described = l.columns
			return nil
		}
	}
	way, before := l.way, l.control.table
	if err := l.install(ctx); err != nil {
		return err
	}
	if err := l.rewake(ctx, way, before); err != nil {
		return err
	}
	l.look.full = time.Time{} // nothing may have told us of new tasks meanwhile
	l.described = ""          // we may have changed it ourselves
	return nil
}
