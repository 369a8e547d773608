package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
)

const (
	standby   = 500 * time.Millisecond // how often, about, one that stands by looks whether it can lead
	rivalTick = 3 * time.Second        // how often it looks who leads, which costs thirty times as much
)

// leadership is what the control session holds, or who has the lock instead. It falls with the
// session.
type leadership struct {
	rival  *lock.Holder       // nil: nobody, or it is not known
	looked time.Time          // for it
	above  map[sql.Table]bool // tables that this one is a partition of, or inherits from
}

// elect tries to become the leader.
func (l *loop) elect(ctx context.Context) (leads bool, err error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	c, k := l.control.Conn(), lock.Leadership(l.target.Relation(), false)
	leads, err = k.Take(ctx, c)
	if err != nil || leads || time.Since(l.leads.looked) < rivalTick {
		return leads, err
	}
	if l.leads.rival, err = k.Holder(ctx, c); err != nil {
		return false, err
	}
	l.leads.looked = time.Now()
	if !l.trouble.served && l.leads.rival != nil {
		d, err := schema.Describe(ctx, c, l.target.Relation())
		l.trouble.served = d.Exists
		return false, err
	}
	return false, nil
}

// standsBehind logs who leads. Anybody who can connect can hold the lock.
func (l *loop) standsBehind(rival *lock.Holder) {
	if rival.Role == l.target.Connect["user"] && rival.PID != 0 {
		l.log.Info().Str("leader", rival.Text).Msg("standing by: another controller leads")
	} else {
		l.log.Warn().Str("leader", rival.Text).Msg("standing by: another role leads; if it is no controller, end it, and revoke CONNECT from the role")
	}
}

// share keeps the table above from being served, for as long as we lead.
func (l *loop) share(ctx context.Context, above sql.Table) error {
	c, k := l.control.Conn(), lock.Leadership(above, true)
	if l.leads.above[above] {
		return nil
	}
	shared, err := k.Take(ctx, c)
	if l.leads.above == nil {
		l.leads.above = map[sql.Table]bool{}
	}
	if err != nil || shared {
		l.leads.above[above] = shared
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
		l.target.Relation(), above, by)
}

// release gives all of it up.
func (d *leadership) release(ctx context.Context, conn *pgx.Conn) error {
	clear(d.above)
	_, err := conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
	return err
}
