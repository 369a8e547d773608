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

// A leader that sleeps holds a lock alone; those who insert tasks see that, and wake it by NOTIFY.
// Commits that NOTIFY wait for each other in the whole server. So when tasks come in fast the
// leader stays awake: it gives the lock up, looks for tasks by itself, and spares those who insert
// the NOTIFY. They share the lock until they have committed. Before the leader sleeps it tries to
// take the lock alone, without waiting for it: once it has it, all that it was not told of is
// committed, and it looks once more. Until then it stays awake.
const (
	crowd      = 20                     // so many NOTIFYs within crowdTick keep the leader awake
	crowdTick  = 100 * time.Millisecond // and for so long at least
	awakeTick  = 5 * time.Millisecond   // between two looks of a leader that is awake
	boredTick  = 50 * time.Millisecond  // the same at most, when nothing is due
	boredShare = 50                     // the part that it waits of the time for which nothing was due
	boredTries = 5                      // looks, at least, between two tries to fall asleep

	// queueMost is the part of the server's queue of notifications that may be full. A session that
	// listens and does not read fills it, and when it is full every NOTIFY fails: from 0.9 on triggers
	// leave it out, which is long after the leader has begun to look by itself.
	queueMost = 0.5
)

// sleep is what the leader knows of its sleep. It begins awake.
type sleep struct {
	asleep bool
	queue  float64   // how full the server's queue of notifications is
	tried  time.Time // to fall asleep, or has woken up
	found  time.Time // when something was due, asleep or not
}

// tick is the time between two looks. It does not begin anew with a sleep: those who insert tasks for
// later wake the leader whenever it has fallen asleep between two of their commits.
func (s *sleep) tick() time.Duration {
	return min(max(time.Since(s.found)/boredShare, awakeTick), boredTick)
}

// Awake tells whether the leader looks for new tasks by itself all the time, though NOTIFY is
// possible.
func (w *Waker) Awake() bool { return w.source.way == sql.Notify && !w.sleep.asleep }

// full tells that notifications may be left out, as the server's queue is nearly full.
func (s *sleep) full() bool { return s.queue >= queueMost }

// Full tells that the server's queue of notifications may have no room for more.
func (w *Waker) Full() bool { return w.sleep.full() }

// QueueIs takes in how full the server's queue of notifications is: from 0 to 1.
func (w *Waker) QueueIs(full float64) { w.sleep.queue = full }

// FallAsleep does so where NOTIFY is the way, or wakes up, or leaves it as it is. After it has
// fallen asleep, the leader must look at all that is due once more.
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

// WakeUp gives up the lock of the leader's sleep, if it sleeps.
func (w *Waker) WakeUp(ctx context.Context) error {
	if !w.sleep.asleep {
		return nil
	}
	w.sleep.asleep, w.sleep.tried = false, time.Now()
	return w.Control.Row(ctx, "awake", []any{w.source.waking.Lock}, new(bool))
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
