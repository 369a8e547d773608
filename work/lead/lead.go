package lead

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Lead knows who leads a target.
type Lead struct {
	Control *control.Control
	Target  target.Target
	Log     *target.Log

	// What the table of controllers shows of us.
	Controller string                       // "": this process
	Version    string                       // the program's
	Live       *atomic.Pointer[target.Live] // settings

	Sessions func() []pool.Backend // that are open

	// Rival held the lock when Elect looked last: anybody who can connect can. nil: nobody, or it is not
	// known.
	Rival  *lock.Holder
	Handed bool // the lead was given away

	looked   time.Time // for the rival
	shown    time.Time // when the table of controllers was last written, or that was tried
	shows    bool      // there that we lead
	enrolled enrolment // where all sessions of ours are registered
	tried    enrolment // where that was tried
}

// enrolment is a register of sessions, and the control session that has written to it.
type enrolment struct {
	register int64 // 0: none
	control  int32
}

// Begin takes note that the control session is a new one, which holds nothing.
func (l *Lead) Begin() { l.Rival, l.looked, l.Handed = nil, time.Time{}, false }

// rivalTick is how often a follower looks who leads: that costs thirty times as much as a try to lead.
const rivalTick = 3 * time.Second

// Elect tries to become the leader.
func (l *Lead) Elect(ctx context.Context) (leads bool, err error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	c, k := l.Control.Conn(), lock.Leadership(l.Target.Relation(), false)
	leads, err = k.Take(ctx, c)
	l.Handed = l.Handed && !leads
	if err != nil || leads || time.Since(l.looked) < rivalTick {
		return leads, err
	}
	if l.Rival, err = k.Holder(ctx, c); err == nil {
		l.looked = time.Now()
	}
	return false, err
}

// ours tells whether a rival may be a controller like us.
func (l *Lead) ours(rival *lock.Holder) bool { return rival.Role == l.Target.Connect["user"] }

// Tell logs that the rival leads.
func (l *Lead) Tell(rival *lock.Holder) {
	if l.ours(rival) && rival.PID != 0 {
		l.Log.Info().Str("leader", rival.Text).Msg("standing by: another controller leads")
	} else {
		l.Log.Warn().Str("leader", rival.Text).Msg("standing by: another role leads; if it is no controller, end it, and revoke CONNECT from the role")
	}
}

// Share keeps the table above from being served, for as long as we lead.
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

// Release gives the lead away: running tasks go on, and we do nothing else.
func (l *Lead) Release(ctx context.Context) error {
	_, err := l.Control.Conn().Exec(ctx, "SELECT pg_advisory_unlock_all()")
	l.Handed = err == nil
	return err
}

// leaderTick is the time between two writes to the table of controllers.
const leaderTick = time.Minute

// leaderLimits keep us from waiting there for a lock, or for a standby server.
const leaderLimits = "SET LOCAL lock_timeout = '50ms'; SET LOCAL statement_timeout = '1s'; SET LOCAL synchronous_commit = off; "

// process names this process in the table of controllers.
var process = sync.OnceValues(func() (host, controller string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	host = strings.ToValidUTF8(host, "?")
	return host, fmt.Sprintf("%s:%d:%s", host, os.Getpid(), time.Now().UTC().Format("20060102T150405.000"))
})

// StandBy shows in the table of controllers, each minute, that we do not lead. If another role
// leads, that table is left alone: whom that role trusts is not ours to know.
func (l *Lead) StandBy(ctx context.Context) error {
	if l.Rival == nil || !l.ours(l.Rival) {
		return nil
	}
	return l.Show(ctx, false)
}

// Renew has the next Show write, since the table of controllers may be another one.
func (l *Lead) Renew() { l.shown = time.Time{} }

// Show writes our row in the table of controllers, unless it says the same and was written in the last
// minute. A refusal of the server's is no failure, as tasks run without the table.
func (l *Lead) Show(ctx context.Context, leads bool) error {
	if time.Since(l.shown) < leaderTick && l.shows == leads {
		return nil
	}
	l.shown, l.shows = time.Now(), leads
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	host, controller := process()
	_, err := l.Control.Conn().Exec(ctx, leaderLimits+l.Control.Queries().Text("lead"), pgx.QueryExecModeSimpleProtocol,
		cmp.Or(l.Controller, controller), leads, host, os.Getpid(), l.Version, l.Live.Load().Run, l.Control.Facts().TimeZone)
	if fault.Has(err, "42P01", "42501") { // there is none that we may write to
		l.shown = time.Now().Add(target.SayAgain)
	}
	if fault.IsAnswer(err) {
		l.Log.Debug().Err(err).Msg("cannot show in the table of controllers who leads")
		return nil
	}
	return err
}

// Register registers sessions that were opened; in a new register, or on a new control session, all of
// ours. If there is no register it makes a round trip all the same; if there is nothing to do it does not.
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
		opened = append(l.Sessions(), opened...)
	}
	pids, starts := pool.Columns(opened)
	_, err := l.Control.Exec(ctx, "register", pids, starts)
	if err == nil {
		l.enrolled = at
	}
	return err
}
