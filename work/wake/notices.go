package wake

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
