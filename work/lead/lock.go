package lead

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
)

// rivalTick is how often one that stands by looks who leads, which costs thirty times as much as
// looking whether it can lead itself.
const rivalTick = 3 * time.Second

// Elect tries to become the leader.
func (l *Lead) Elect(ctx context.Context) (leads bool, err error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	c, k := l.Control.Conn(), lock.Leadership(l.Target.Relation(), false)
	leads, err = k.Take(ctx, c)
	l.handed = l.handed && !leads
	if err != nil || leads || time.Since(l.looked) < rivalTick {
		return leads, err
	}
	if l.rival, err = k.Holder(ctx, c); err == nil {
		l.looked = time.Now()
	}
	return false, err
}

// Rival is who held the lock when Elect looked last; nil: nobody, or it is not known. Anybody who can
// connect can hold it.
func (l *Lead) Rival() *lock.Holder { return l.rival }

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
	if l.above[above] {
		return nil
	}
	c, k := l.Control.Conn(), lock.Leadership(above, true)
	shared, err := k.Take(ctx, c)
	if err != nil || shared {
		l.above[above] = shared
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

// Release gives all of it up: what runs goes on, and nothing else is ours to do.
func (l *Lead) Release(ctx context.Context) error {
	clear(l.above)
	_, err := l.Control.Conn().Exec(ctx, "SELECT pg_advisory_unlock_all()")
	l.handed = err == nil
	return err
}

// Handed tells that the lead was given away.
func (l *Lead) Handed() bool { return l.handed }
