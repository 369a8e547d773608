package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// send sends statements that read the table, in one exchange with the server.
func (l *loop) send(ctx context.Context, batch *pgx.Batch) error {
	err := l.control.conn.SendBatch(ctx, batch).Close()
	if isAnswer(err) {
		l.undo(ctx)
	}
	return err
}

// lookAnew looks at the table as if it had just come to be served.
func (l *loop) lookAnew(ctx context.Context) error {
	if err := l.install(ctx); err != nil {
		return err
	}
	l.look.full = time.Time{}   // nothing may have told us of new tasks meanwhile
	l.presence.at = time.Time{} // the table of controllers may be new
	l.described = ""            // we may have changed it ourselves
	l.look.compared, l.look.before = "", l.columns
	return nil
}

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// what has been dropped may be missing. What looks the same is not looked at as if it were new time
// after time: there may be somebody who changes something that does not matter, and changes it back.
func (l *loop) redescribe(ctx context.Context) error {
	again := l.resumes()
	if l.columns == l.described && !again {
		return nil
	}
	if l.described == "" && !again { // we have looked at it just now
		same, err := l.looksTheSame(ctx)
		if err != nil {
			return err
		}
		if same {
			l.described = l.columns
			if l.columns != l.look.before { // with a partition that comes back tasks do
				l.look.full = time.Time{}
			}
			return nil
		}
	}
	if !again && time.Since(l.look.anew) < anewTick {
		if l.look.compared == l.columns {
			return nil
		}
		same, err := l.looksTheSame(ctx)
		if err != nil || same {
			l.look.compared = l.columns
			return err
		}
	}
	l.look.anew = time.Now()
	return l.lookAnew(ctx)
}

// anewTick is the shortest time between two such looks at a table that looks the same.
const anewTick = time.Second

// looksTheSame tells whether the table still is as the operations on it need to know.
func (l *loop) looksTheSame(ctx context.Context) (bool, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	d, err := sql.Describe(ctx, l.control.conn, table(l.target))
	return d.Fingerprint == l.control.table.Fingerprint, err
}
