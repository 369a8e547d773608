package lead

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/place"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Lead takes the lead of a target, and knows who has it.
type Lead struct {
	Control *control.Control
	Target  target.Target
	Log     *target.Log

	// The table of controllers shows these.
	Controller string                       // "": this process
	Version    string                       // the program's
	Live       *atomic.Pointer[target.Live] // live settings

	Pool *pool.Pool // our open sessions

	place  place.Place // where the table is
	placed bool        // the table of controllers says so, or cannot

	// Rival held the lock when Elect last looked; anybody who can connect can hold it. nil: nobody,
	// or not known.
	Rival  *lock.Holder
	Handed bool // we gave the lead away

	looked   time.Time // when Elect last looked for the rival
	shown    time.Time // when the table of controllers was last written, or a try failed
	shows    bool      // that table says that we lead
	enrolled enrolment // where all our sessions are registered
	tried    enrolment // where that was last tried
}

// enrolment is a register of sessions, and the control session that wrote to it.
type enrolment struct {
	register int64 // 0: no register
	control  int32
}

// Begin starts with a new control session, which holds no lock yet.
func (l *Lead) Begin() { l.Rival, l.looked, l.Handed, l.placed = nil, time.Time{}, false, false }

// rivalTick is how often a follower looks who leads: a look costs as much as thirty tries to lead.
const rivalTick = 3 * time.Second

// Elect tries to become the leader.
func (l *Lead) Elect(ctx context.Context) (leads bool, err error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	c, k := l.Control.Conn(), lock.Leadership(l.Target.Relation(), false)
	if time.Since(l.looked) < rivalTick {
		leads, err = k.Take(ctx, c)
	} else if leads, l.Rival, err = k.TakeOrHolder(ctx, c, l.number()); err == nil && !leads {
		l.looked = time.Now()
	}
	l.Handed = l.Handed && !leads
	return leads, err
}

// ours reports whether a rival may be a controller like us.
func (l *Lead) ours(rival *lock.Holder) bool { return rival.Role == l.Target.Connect["user"] }

// Tell logs that the rival leads.
func (l *Lead) Tell(rival *lock.Holder) {
	if l.ours(rival) && rival.PID != 0 {
		l.Log.Info().Str("leader", rival.Text).Msg("standing by: another controller leads")
	} else {
		l.Log.Warn().Str("leader", rival.Text).Msg("standing by: another role leads; if it is no controller, end it, and revoke CONNECT from the role")
	}
}

// Share prevents others from serving the table above ours while we lead.
func (l *Lead) Share(ctx context.Context, above sql.Table) error {
	c, k := l.Control.Conn(), lock.Leadership(above, true)
	shared, err := k.Take(ctx, c)
	if err != nil || shared {
		return err
	}
	holder, err := k.Holder(ctx, c)
	if err != nil {
		return err
	}
	by := ""
	if holder != nil {
		by = " by " + holder.Text
	}
	return fmt.Errorf("table %s is a partition or child of %s, which is served, too: serve only one of them; its lock is held%s",
		l.Target.Relation(), above, by)
}

// Release gives the lead away. Tasks that run go on; we do nothing else.
func (l *Lead) Release(ctx context.Context) error {
	_, err := l.Control.Conn().Exec(ctx, "SELECT pg_advisory_unlock_all()")
	l.Handed = err == nil
	return err
}

// leaderTick is the time between two writes to the table of controllers.
const leaderTick = time.Minute

// leaderLimits limit how long a write there waits for a lock, or for a standby server.
const leaderLimits = "SET LOCAL lock_timeout = '50ms'; SET LOCAL statement_timeout = '1s'; SET LOCAL synchronous_commit = off; "

// process returns the host, and the name of this process in the table of controllers.
var process = sync.OnceValues(func() (host, controller string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = strings.ToValidUTF8(host, "?")
	return host, fmt.Sprintf("%s:%d:%s", host, os.Getpid(), time.Now().UTC().Format("20060102T150405.000"))
})

// name is the controller's in the table of controllers.
func (l *Lead) name() string {
	_, this := process()
	return cmp.Or(l.Controller, this)
}

// StandBy writes into the table of controllers, once a minute, that we do not lead. If another role
// leads, StandBy writes nothing: we cannot know whom that role trusts.
func (l *Lead) StandBy(ctx context.Context) error {
	if l.Rival == nil || !l.ours(l.Rival) {
		return nil
	}
	return l.Show(ctx, false)
}

// Renew makes the next Show write, since the table of controllers may be a new one.
func (l *Lead) Renew() { l.shown, l.placed = time.Time{}, false }

// Show writes our row in the table of controllers, unless the row is less than a minute old and
// says the same. A refusal by the server is no error: tasks run without that table.
func (l *Lead) Show(ctx context.Context, leads bool) error {
	if time.Since(l.shown) < leaderTick && l.shows == leads {
		return nil
	}
	l.shown, l.shows = time.Now(), leads
	host, _ := process()
	controller := l.name()
	err := l.write(ctx, "lead", controller, leads, host, os.Getpid(), l.Version, l.Live.Load().Run, l.Control.Facts().TimeZone)
	if err == nil && leads && !l.placed {
		err = l.writePlace(ctx, controller)
	}
	if fault.Has(err, "42P01", "42501") { // there is no such table, or we may not write to it
		l.shown = time.Now().Add(target.SayAgain)
	}
	if fault.IsAnswer(err) {
		l.Log.Debug().Err(err).Msg("cannot show in the table of controllers who leads")
		return nil
	}
	return err
}

// write runs a statement on the table of controllers.
func (l *Lead) write(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	args = append([]any{pgx.QueryExecModeSimpleProtocol}, args...)
	_, err := l.Control.Conn().Exec(ctx, leaderLimits+l.Control.Queries().Text(statement), args...)
	return err
}

// At sets where the table is. The next Show writes it if it is new.
func (l *Lead) At(p place.Place) {
	if !reflect.DeepEqual(l.place, p) {
		l.place = p
		l.Renew()
	}
}

// writePlace writes where the table is, once a term. A table of an earlier version cannot hold it.
func (l *Lead) writePlace(ctx context.Context, controller string) error {
	text, err := json.Marshal(l.place)
	if err == nil {
		err = l.write(ctx, "placed", controller, string(text))
	}
	l.placed = err == nil || fault.Has(err, "42703")
	return err
}

// Register adds newly opened sessions to the register. In a new register, or on a new control
// session, it adds all ours. Without a register it only makes a round trip, if anything is new.
func (l *Lead) Register(ctx context.Context, opened []pool.Backend) error {
	at := enrolment{l.Control.Table().Register, l.Control.Facts().PID}
	if len(opened) == 0 && l.tried == at {
		return nil
	}
	l.tried = at
	if at.register == 0 {
		l.enrolled = at
		return l.Control.Ping(ctx)
	}
	if l.enrolled != at {
		opened = append(l.Pool.Backends(), opened...)
	}
	pids, starts := pool.Columns(opened)
	_, err := l.Control.Exec(ctx, "register", pids, starts)
	if err == nil {
		l.enrolled = at
	}
	return err
}
