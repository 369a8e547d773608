package wake

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// While the leader sleeps, it holds a lock exclusively. Sessions that insert tasks see the lock,
// and wake the leader by NOTIFY. But commits with NOTIFY wait for each other in the whole server.
// So when tasks come in fast, the leader stays awake: it releases the lock and looks for tasks by
// itself, and the sessions need no NOTIFY. Without NOTIFY a session shares the lock until it has
// committed. To fall asleep, the leader tries to take the lock exclusively, without waiting. If it
// gets the lock, all tasks without NOTIFY are committed, and it looks once more.
const (
	crowd      = 20                     // NOTIFYs within crowdTick that keep the leader awake
	crowdTick  = 100 * time.Millisecond // shortest time awake
	awakeTick  = 5 * time.Millisecond   // time between two looks of a leader that is awake
	boredTick  = 50 * time.Millisecond  // longest time between two looks, if nothing is due
	boredShare = 50                     // the leader waits for one part in so many of the time without due tasks
	boredTries = 5                      // least number of looks between two tries to fall asleep

	// queueMost is how full the server's queue of notifications may be before the leader stays
	// awake. A session that listens and does not read fills the queue. When it is full, every
	// NOTIFY fails; from 0.9 on, the triggers send none.
	queueMost = 0.5
)

// sleep is the state of the leader's sleep. A leader begins awake.
type sleep struct {
	asleep bool
	queue  float64   // how full the server's queue of notifications is, from 0 to 1
	tried  time.Time // when the leader last tried to fall asleep, or woke up
	found  time.Time // when a task was last due, asleep or not
}

// tick returns the time between two looks. A sleep does not reset it: inserts of tasks for later
// wake the leader whenever it has fallen asleep between two of them.
func (s *sleep) tick() time.Duration {
	return min(max(time.Since(s.found)/boredShare, awakeTick), boredTick)
}

// Awake tells whether the leader looks for new tasks by itself, although NOTIFY is possible.
func (w *Waker) Awake() bool { return w.source.way == sql.Notify && !w.sleep.asleep }

// full tells whether triggers may leave out notifications soon.
func (s *sleep) full() bool { return s.queue >= queueMost }

// Full tells whether the server's queue of notifications may soon have no room.
func (w *Waker) Full() bool { return w.sleep.full() }

// QueueIs sets how full the server's queue of notifications is, from 0 to 1.
func (w *Waker) QueueIs(full float64) { w.sleep.queue = full }

// FallAsleep lets the leader fall asleep or wake up, if NOTIFY is the way and it is time to. If it
// fell asleep, it must look at all due tasks once more.
func (w *Waker) FallAsleep(ctx context.Context) (fell bool, err error) {
	s := &w.sleep
	switch {
	case w.source.way != sql.Notify:
		return false, nil
	case s.asleep && !w.Notices.flood.lasts() && !s.full():
		return false, nil
	case s.asleep:
		return false, w.WakeUp(ctx)
	case time.Since(s.tried) < max(crowdTick, boredTries*s.tick()), s.full():
		return false, nil
	}
	s.tried = time.Now()
	if err = w.Control.Row(ctx, "asleep", []any{w.source.waking.Lock}, &s.asleep); s.asleep {
		w.Notices.flood = flood{}
	}
	return s.asleep, err
}

// WakeUp releases the lock of the leader's sleep, if the leader sleeps.
func (w *Waker) WakeUp(ctx context.Context) error {
	if !w.sleep.asleep {
		return nil
	}
	w.sleep.asleep, w.sleep.tried = false, time.Now()
	return w.Control.Row(ctx, "awake", []any{w.source.waking.Lock}, new(bool))
}

// WayOf returns the way of waking that is possible with the table as it is.
func WayOf(wanted sql.Wake, w schema.Waking) sql.Wake {
	switch {
	case wanted == sql.WAL && w.Published != 0:
		return sql.WAL
	case wanted != sql.Poll && w.Inserts && w.Changes:
		return sql.Notify
	}
	return sql.Poll
}

// plain tells whether every text of the database can be converted to UTF-8. If not, the leader does
// not listen: the server ends a session if it cannot convert a payload for it, and anyone who can
// connect can send a payload.
func plain(conn *pgconn.PgConn) bool {
	encoding := conn.ParameterStatus("server_encoding")
	return encoding == "UTF8" || encoding == "LATIN1"
}

// Audible returns the wanted way of waking, or Poll if the way needs NOTIFY and the connection must
// not listen. obstacles say why, if the configuration asks for NOTIFY.
func Audible(wanted sql.Wake, conn *pgconn.PgConn) (way sql.Wake, obstacles []string) {
	switch {
	case wanted == sql.WAL || wanted == sql.Poll || plain(conn):
		return wanted, nil
	case wanted == sql.Notify:
		obstacles = []string{"the encoding of the database is neither UTF8 nor LATIN1, and some of its text could not be sent"}
	}
	return sql.Poll, obstacles
}

// Unstreamable returns why the role cannot read the write-ahead log: each reason with a remedy.
func Unstreamable(ctx context.Context, conn *pgx.Conn, q sql.Queries) ([]string, error) {
	rows, err := conn.Query(ctx, q.Text("unstreamable"))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Unpublished says why the log does not show the table's inserts; nil: it shows them.
func Unpublished(t sql.Table, d schema.Description) []string {
	if d.Waking.Published != 0 {
		return nil
	}
	return []string{fmt.Sprintf("publication %s does not publish inserts into the table: "+
		"run as the table's owner, with CREATE on the database, or, where it is somebody else's, as a superuser: %s", sql.Publication(t), schema.CreatePublication(t, d))}
}

// Silent says why the table's triggers do not tell of every change.
func Silent(t sql.Table, role string) string {
	return fmt.Sprintf("triggers of table %s are missing or disabled: GRANT TRIGGER ON %s TO %s, "+
		"or run the output of pgtaskd schema --config FILE", t, t, sql.Quoted(role))
}

// Impossible says why the wanted way of waking is not possible.
func Impossible(wanted sql.Wake, obstacles []string) string {
	return fmt.Sprintf("wake %q is not possible: %s", wanted, strings.Join(obstacles, "; "))
}
