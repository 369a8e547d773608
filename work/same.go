package work

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The statements name the table. Whoever may create in its schema can give that name to a view of
// their own, as soon as it was dropped or renamed, and what reads a view runs its functions. So the
// table is locked, which runs nothing, and compared with the one that was looked at, before it is
// read: in one transaction, and in one exchange with the server. Where tasks are under way that is
// done from time to time, and not for each statement.

// sameFor is how long the table is taken for the same while tasks are under way.
const sameFor = 200 * time.Millisecond

// sameNumber divides by zero unless the name is that of the relation with the number, and ownName
// unless it is that of one of ours.
const (
	sameNumber = "SELECT 1 / coalesce(to_regclass($1)::oid::int8 = $2::int8, false)::int4"
	ownName    = "SELECT 1 / coalesce((SELECT pg_get_userbyid(c.relowner) = current_user FROM pg_class AS c " +
		"WHERE c.oid = to_regclass($1)::oid), false)::int4"
)

// errReplaced is the error of a name that has come to be another relation's, or of a table that has
// come to be somebody else's.
var errReplaced = errors.New("a table is another one than it was")

// relation is one that statements name.
type relation struct {
	name   string
	number int64  // 0: it is our own
	mode   string // of the lock
}

func (l *loop) served() relation {
	return relation{table(l.target).String(), l.control.table.OID, "ACCESS SHARE"}
}

// send sends statements of which the first after a silence reads the table: what is to be read then
// is sent only to the table that was looked at. A batch that is no transaction becomes one.
func (l *loop) send(ctx context.Context, batch *pgx.Batch) (err error) {
	if len(l.tasks) == 0 || time.Since(l.look.same) >= sameFor {
		if err = l.sendTo(ctx, l.served(), batch); err == nil {
			l.look.same = time.Now()
		}
		return err
	}
	if err = l.control.conn.SendBatch(ctx, batch).Close(); isAnswer(err) {
		l.undo(ctx)
	}
	return err
}

// sure compares the table where what follows is not sent by send.
func (l *loop) sure(ctx context.Context) error {
	if time.Since(l.look.same) < sameFor {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	err := l.sendTo(ctx, l.served(), &pgx.Batch{})
	if err == nil {
		l.look.same = time.Now()
	}
	return err
}

// sureOfRows does so before rows of tasks are written or looked for that are known.
func (l *loop) sureOfRows(ctx context.Context) error {
	if l.vacant() {
		return nil
	}
	return l.sure(ctx)
}

// sendTo puts the comparison of a relation before the statements. Those that are new to the
// connection come after its answer, since the server would look at them when they are prepared.
func (l *loop) sendTo(ctx context.Context, to relation, batch *pgx.Batch) (err error) {
	defer func() {
		if isAnswer(err) || errors.Is(err, errReplaced) {
			l.undo(ctx)
		}
	}()
	rest, conn := batch.QueuedQueries, l.control.conn
	first, same := &pgx.Batch{}, false
	if len(rest) > 0 && strings.HasPrefix(rest[0].SQL, "BEGIN") {
		first.QueuedQueries, rest = append(first.QueuedQueries, rest[0]), rest[1:]
	} else {
		first.Queue("BEGIN READ WRITE")
		end := &pgx.Batch{}
		end.Queue("COMMIT")
		rest = slices.Concat(rest, end.QueuedQueries)
	}
	if strings.HasPrefix(rest[0].SQL, "LOCK TABLE") {
		first.QueuedQueries, rest = append(first.QueuedQueries, rest[0]), rest[1:]
	} else {
		first.Queue("LOCK TABLE " + to.name + " IN " + to.mode + " MODE")
	}
	query, args := sameNumber, []any{to.name, to.number}
	if to.number == 0 {
		query, args = ownName, args[:1]
	}
	compares := func(row pgx.Row) error {
		var one int32
		err := row.Scan(&one)
		same = err == nil
		return err
	}
	first.Queue(query, args...).QueryRow(compares)
	if to == l.served() { // its owners are those of then
		first.Queue(l.queries().Text("masters")).QueryRow(compares)
	}
	if l.control.prepares(rest) {
		if err = conn.SendBatch(ctx, first).Close(); err == nil {
			err = conn.SendBatch(ctx, &pgx.Batch{QueuedQueries: rest}).Close()
		}
	} else {
		first.QueuedQueries = append(first.QueuedQueries, rest...)
		err = conn.SendBatch(ctx, first).Close()
	}
	switch {
	case !same && hasState(err, "22012"):
		return errReplaced
	case err != nil:
		l.control.prepared = nil // what has failed is prepared again
	}
	return err
}

// prepares tells whether one of the statements may have to be prepared.
func (c *control) prepares(all []*pgx.QueuedQuery) (some bool) {
	for _, q := range all {
		if !c.prepared[q.SQL] {
			some = true
			if c.prepared == nil {
				c.prepared = map[string]bool{}
			}
			c.prepared[q.SQL] = true
		}
	}
	return some
}

// lookAnew looks at the table as if it had just come to be served.
func (l *loop) lookAnew(ctx context.Context) error {
	if err := l.install(ctx); err != nil {
		return err
	}
	l.look.full = time.Time{} // nothing may have told us of new tasks meanwhile
	l.described = ""          // we may have changed it ourselves
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
	d, err := describe(ctx, l.control.conn, l.target)
	return d.Fingerprint == l.control.table.Fingerprint, err
}
