package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

const (
	standby    = 500 * time.Millisecond // how often, about, one that stands by looks whether it can lead
	rivalTick  = 3 * time.Second        // how often it looks who leads, which costs thirty times as much
	assureTick = 30 * time.Second       // how often a leader looks whether it alone leads
	rivalTries = 5                      // looks of a leader that sees another: who tries to lead holds a lock for a moment
	rivalPause = 200 * time.Millisecond // between them
)

// leadership is what the control session holds: it falls with the session.
type leadership struct {
	own    *sql.Lock
	above  map[sql.Table]*sql.Lock // of the tables that this one is a partition of, or inherits from
	looked time.Time               // at who else holds one
}

// errNotAlone is the error of a leader that has found another one.
var errNotAlone = errors.New("another controller leads as well")

// elect tries to become the leader. While the lock is held it is believed for a while that the one
// who held it leads.
func (l *loop) elect(ctx context.Context) (leads bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := l.control
	if err := c.leads.own.Try(ctx, c.conn); err != nil {
		return false, err
	}
	if !c.leads.own.Held() && time.Since(c.leads.looked) < rivalTick {
		return false, nil
	}
	leads, err = c.leads.own.Take(ctx, c.conn)
	if err != nil {
		return false, err
	}
	c.leads.looked = time.Now()
	l.trouble.meet(c.leads.own)
	if !leads && !l.trouble.served {
		d, err := sql.Describe(ctx, c.conn, table(l.target))
		l.trouble.served = d.Exists && c.leads.own.Rival != nil
		return false, err
	}
	return leads, nil
}

// standsBehind logs who leads. A role that has the rights to serve the table may hold the lock only to
// be in the way.
func (l *loop) standsBehind(rival *sql.Holder) {
	log := l.log.With().Int32("pid", rival.PID).Str("role", legible(rival.Role)).Str("client", cmp.Or(rival.Client, "local or unknown")).Logger()
	if rival.Role == l.target.Connect["user"] {
		log.Info().Msg("standing by: another controller leads")
	} else {
		log.Warn().Msg("standing by: a session of another role leads; if it is no controller, end it, and revoke the role's rights to the table")
	}
}

// assure is an error where another controller leads as well. Without the right to the table we were
// not believed to lead before we had it: so we look again when we have, and from time to time. It
// tells of strangers, too.
func (l *loop) assure(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := l.control
	for range rivalTries {
		if err := c.leads.own.Look(ctx, c.conn); err != nil {
			return err
		}
		if c.leads.own.Rival == nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rivalPause):
		}
	}
	c.leads.looked = time.Now()
	l.trouble.meet(c.leads.own)
	if rival := c.leads.own.Rival; rival != nil {
		return fmt.Errorf("%w: %s", errNotAlone, rival)
	}
	others := []*sql.Lock{sql.Schema(table(l.target))}
	if l.wake.Way() == sql.Notify {
		others = append(others, sql.Sleep(table(l.target), c.table.Waking))
	}
	for _, k := range others {
		if err := k.Look(ctx, c.conn); err != nil {
			return err
		}
		l.trouble.meet(k)
	}
	return nil
}

// reassure does so when it is time.
func (l *loop) reassure(ctx context.Context) error {
	if l.handed || time.Since(l.control.leads.looked) < assureTick {
		return nil
	}
	return l.assure(ctx)
}

// share keeps the table above from being served, for as long as we lead.
func (l *loop) share(ctx context.Context, above sql.Table) error {
	c := l.control
	k := c.leads.above[above]
	if k == nil {
		k = sql.Leadership(above, true)
		c.leads.above[above] = k
	}
	shared, err := k.Take(ctx, c.conn)
	if err != nil {
		return err
	}
	l.trouble.meet(k)
	if !shared {
		return fmt.Errorf("table %s is a partition or child of %s, which is served, too: serve only one of them",
			table(l.target), above)
	}
	return nil
}

// release gives all of it up.
func (d *leadership) release(ctx context.Context, conn *pgx.Conn) error {
	for _, k := range d.above {
		if err := k.Release(ctx, conn); err != nil {
			return err
		}
	}
	return d.own.Release(ctx, conn)
}

// meet names those who hold a lock and are not believed: one of a role, as they may come and go.
func (t *trouble) meet(k *sql.Lock) {
	for _, h := range k.Strangers {
		if t.said.isNew("lock " + k.What() + " of " + h.Role) {
			t.log.Warn().Int32("pid", h.PID).Str("role", legible(h.Role)).Str("lock", k.What()).Msg(passedOver(k, h))
		}
	}
}

// passedOver says what is to be known of a stranger. A prepared transaction is one whatever its role
// may do.
func passedOver(k *sql.Lock, h sql.Holder) string {
	if h.PID == 0 {
		return fmt.Sprintf("%s holds a %s lock of pgtaskd, is no session that could serve the table and is ignored: end it", h, k.What())
	}
	return fmt.Sprintf("%s holds a %s lock of pgtaskd, has too few rights to serve the table and is ignored: end it, or revoke CONNECT from the role", h, k.What())
}
