package work

import (
	"context"
	"time"
)

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// what has been dropped may be missing.
func (l *loop) redescribe(ctx context.Context) error {
	resumes := !l.postponed.IsZero() && time.Since(l.postponed) >= postponement
	if l.columns == l.described && !resumes {
		return nil
	}
	if err := l.install(ctx); err != nil {
		return err
	}
	l.look.full = time.Time{}   // nothing may have told us of new tasks meanwhile
	l.presence.at = time.Time{} // the table of controllers may be new
	return nil
}
