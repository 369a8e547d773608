package work

import (
	"context"
	"time"

	"pgtaskd/human"
	"pgtaskd/sql"
)

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the
// time: they cost more than looking whether anything is due.
const columnsTick = 50 * time.Millisecond

func (l *loop) columnsDue() bool { return !l.wake.Awake() || time.Since(l.look.columns) >= columnsTick }

// postponement is the time between two tries to change what the table can do without, while
// somebody has locked it: for the blink of each try those who insert wait as well.
const postponement = time.Minute

// postpone takes an error for none if it is a lock that kept us from changing what the table can do
// without, and has it tried again.
func (l *loop) postpone(ctx context.Context, t Target, err error) error {
	known := l.postponed
	l.postponed = time.Time{}
	if !hasState(err, "55P03") || lacking(ctx, l.control.conn, t) != nil {
		return err
	}
	l.postponed = time.Now().Add(postponement)
	if known.IsZero() {
		l.log.Warn().Err(err).Str("retry_in", human.Duration(postponement)).Msg("table is in use and cannot be changed; serving it as it is")
	}
	return nil
}

// resumes tells whether what was postponed is to be tried again.
func (l *loop) resumes() bool { return !l.postponed.IsZero() && !time.Now().Before(l.postponed) }

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// what has been dropped may be missing.
func (l *loop) redescribe(ctx context.Context) error {
	again := l.resumes()
	if l.columns == l.described && !again {
		return nil
	}
	if l.described == "" && !again { // we have looked at it just now
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
	if err := l.install(ctx); err != nil {
		return err
	}
	l.look.full = time.Time{} // nothing may have told us of new tasks meanwhile
	l.described = ""          // we may have changed it ourselves
	return nil
}
