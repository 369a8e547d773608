package work

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Version is the program's, as the table of controllers shows it. It is set before any target is
// served.
var Version = "devel"

// leaderTick is the time between two writes to the table of controllers.
const leaderTick = time.Minute

// unshownTick is the time between two looks for that table by a controller that stands by and has
// found none.
const unshownTick = 5 * time.Second

// leaderLimits keep the loop from waiting there for what somebody has locked, or for a standby
// server.
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

// presence is what the table of controllers shows of us.
type presence struct {
	controller string    // "": this process
	at         time.Time // when it was last written, or that was tried
	leads      bool
	table      int64     // 0: there was none that we could write to
	looked     time.Time // when one that stands by has looked for it,
	seen       int64     // and what it has found
}

// present shows in the table of controllers that we lead, each minute.
func (l *loop) present(ctx context.Context) error {
	return l.show(ctx, !l.handed, l.control.table.Leader, l.timeZone())
}

// retire shows there that we lead no more.
func (l *loop) retire(ctx context.Context) {
	_ = l.show(ctx, false, l.control.table.Leader, l.timeZone())
}

// standsBy shows there that another controller leads, each minute.
func (l *loop) standsBy(ctx context.Context) error {
	if time.Since(l.presence.looked) >= leaderTick || l.presence.seen == 0 && time.Since(l.presence.looked) >= unshownTick {
		ctx, cancel := limited(ctx)
		defer cancel()
		d, err := sql.Describe(ctx, l.control.conn, table(l.target))
		if err != nil && !isAnswer(err) && !sql.IsUntrusted(err) {
			return err
		}
		l.presence.looked, l.presence.seen = time.Now(), d.Leader
	}
	return l.show(ctx, false, l.presence.seen, l.control.timeZone)
}

// show writes our row, unless it was written a moment ago and says the same. A refusal of the
// server's is no failure, as tasks run without the table. Its name may have come to be somebody
// else's since we looked: so it is locked, and compared, first.
func (l *loop) show(ctx context.Context, leads bool, number int64, zone string) error {
	p := &l.presence
	if time.Since(p.at) < leaderTick && p.leads == leads && p.table == number {
		return nil
	}
	if p.at, p.leads, p.table = time.Now(), leads, number; number == 0 {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	host, controller := process()
	name := sql.Beside(table(l.target), "leader")
	statements := leaderLimits + "LOCK TABLE " + name + " IN ROW EXCLUSIVE MODE; " +
		"SELECT 1 / (to_regclass($8)::oid::int8 = $9::int8)::int4; " +
		l.control.queries.Text("lead")
	_, err := l.control.conn.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol,
		cmp.Or(p.controller, controller), leads, host, os.Getpid(), Version, l.live.Load().Run, zone, name, number)
	if isAnswer(err) {
		l.log.Debug().Err(err).Msg("cannot show in the table of controllers who leads")
		return nil
	}
	return err
}

// without says what the table is served without.
func (l *loop) without(all []string) {
	for _, why := range all {
		if l.trouble.said.isNew(why) {
			l.log.Warn().Msg(why)
		}
	}
}

// unmade logs what could not be made beside the table. It returns the rest of the changes.
func (l *loop) unmade(changes []sql.Change) (made []sql.Change) {
	for _, c := range changes {
		switch {
		case c.Failed == nil:
			made = append(made, c)
		case !c.Outdated: // else it is said of all that are
			l.without([]string{"goes without " + c.What + ", which cannot be made: " + c.Failed.Error()})
		}
	}
	return made
}
