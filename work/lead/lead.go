package lead

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

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
