package wake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// regrouped is what the trigger of the table of groups notifies of.
const regrouped = "group"

// Notices are the notifications that have come to the leader.
type Notices struct {
	Changed   bool // somebody has changed or deleted a row that waits
	Regrouped bool // or a row of the table of groups

	come  bool // since News was called last
	flood flood
}

// Take takes in one; changes is the channel of the table's triggers for all but new tasks, own the
// process of the control connection.
func (n *Notices) Take(told *pgconn.Notification, changes string, own uint32) {
	n.come = true
	if told.PID != own {
		n.flood.hear(time.Now())
	}
	switch ours := told.Channel == changes; {
	case ours && told.Payload == regrouped:
		n.Regrouped = true
	case ours && told.PID != own:
		n.Changed = true
	}
}

// flood tells whether notifications come so fast that they say nothing any more: anybody who can
// connect may send them. The leader does what they ask for no more often then than one that is awake.
type flood struct {
	since time.Time
	count int
}

func (f *flood) hear(now time.Time) {
	if now.Sub(f.since) >= crowdTick {
		f.since, f.count = now, 0
	}
	f.count++
}

func (f *flood) lasts() bool { return f.count >= crowd && time.Since(f.since) < 2*crowdTick }

// Noticed tells whether a notification has come since News was called last; urgent is false in a
// flood of notifications.
func (w *Waker) Noticed() (come, urgent bool) {
	n := w.Notices
	return n.come, n.come && !n.flood.lasts()
}

// Wait waits for a notification, but not longer than d. It returns where its end is told: an error
// means that the connection is lost. Until that end nobody else may use the connection; cancel
// brings it about.
func (w *Waker) Wait(ctx context.Context, d time.Duration) (heard <-chan error, cancel func()) {
	waiting, cancel := context.WithTimeout(ctx, d)
	return w.Group.Start(func() error {
		err := w.conn.PgConn().WaitForNotification(waiting)
		if pgconn.Timeout(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}), cancel
}

// WayOf is the way of waking that is possible with the table as it is.
func WayOf(wanted sql.Wake, w schema.Waking) sql.Wake {
	switch {
	case wanted == sql.WAL && w.Published != 0:
		return sql.WAL
	case wanted != sql.Poll && w.Inserts && w.Changes:
		return sql.Notify
	}
	return sql.Poll
}

// plain tells whether each text of the database of a connection can be told in UTF-8. Where not,
// nothing is listened to: the server ends a session to which it cannot tell a payload, and anybody
// who may connect can send one.
func plain(conn *pgconn.PgConn) bool {
	encoding := conn.ParameterStatus("server_encoding")
	return encoding == "UTF8" || encoding == "LATIN1"
}

// Audible is the way of waking that is left where notifications cannot be listened to, and what keeps
// the wanted one from being taken.
func Audible(wanted sql.Wake, conn *pgconn.PgConn) (way sql.Wake, obstacles []string) {
	switch {
	case wanted == sql.WAL || wanted == sql.Poll || plain(conn):
		return wanted, nil
	case wanted == sql.Notify:
		obstacles = []string{"the encoding of the database is neither UTF8 nor LATIN1, and some of its text could not be sent"}
	}
	return sql.Poll, obstacles
}

// Unstreamable are the reasons why the role cannot read the write-ahead log, each with its remedy.
func Unstreamable(ctx context.Context, conn *pgx.Conn, q sql.Queries) ([]string, error) {
	rows, err := conn.Query(ctx, q.Text("unstreamable"))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Unpublished is why the log would show nothing of the table; nil where it shows its inserts.
func Unpublished(t sql.Table, d schema.Description) []string {
	if d.Waking.Published != 0 {
		return nil
	}
	return []string{fmt.Sprintf("publication %s does not publish inserts into the table: "+
		"run as the table's owner, with CREATE on the database, or, where it is somebody else's, as a superuser: %s", sql.Publication(t), schema.CreatePublication(t, d))}
}

// Silent is why the table's triggers do not tell the role of everything.
func Silent(t sql.Table, role string) string {
	return fmt.Sprintf("triggers of table %s are missing or disabled: GRANT TRIGGER ON %s TO %s, "+
		"or run the output of pgtaskd schema --config FILE", t, t, quoted(role))
}

// Impossible says what keeps the way of waking that is wanted from being taken.
func Impossible(wanted sql.Wake, obstacles []string) string {
	return fmt.Sprintf("wake %q is not possible: %s", wanted, strings.Join(obstacles, "; "))
}
