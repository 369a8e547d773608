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

	"pgtaskd/exec/fault"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Version is the program's, as the table of controllers shows it. It is set before any target is
// served.
var Version = "devel"

// leaderTick is the time between two writes to the table of controllers.
const leaderTick = time.Minute

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
}

// present shows in the table of controllers that we lead, each minute.
func (l *loop) present(ctx context.Context) error { return l.show(ctx, !l.handed) }

// standsBy shows there that another controller leads, each minute. One of another role trusts
// others: what it has as that table is not looked at.
func (l *loop) standsBy(ctx context.Context) error {
	if rival := l.leads.rival; rival == nil || rival.Role != l.target.Connect["user"] {
		return nil
	}
	return l.show(ctx, false)
}

// show writes our row, unless it was written a moment ago and says the same. A refusal of the
// server's is no failure, as tasks run without the table.
func (l *loop) show(ctx context.Context, leads bool) error {
	p := &l.presence
	if time.Since(p.at) < leaderTick && p.leads == leads {
		return nil
	}
	p.at, p.leads = time.Now(), leads
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	host, controller := process()
	_, err := l.control.Conn().Exec(ctx, leaderLimits+l.control.Queries().Text("lead"), pgx.QueryExecModeSimpleProtocol,
		cmp.Or(p.controller, controller), leads, host, os.Getpid(), Version, l.live.Load().Run,
		cmp.Or(l.planner.Zone.Name(), l.control.Facts().TimeZone))
	if fault.Has(err, "42P01", "42501") { // there is none that we may write to
		p.at = time.Now().Add(target.SayAgain)
	}
	if fault.IsAnswer(err) {
		l.log.Debug().Err(err).Msg("cannot show in the table of controllers who leads")
		return nil
	}
	return err
}

// without says what the table is served without.
func (l *loop) without(all []string) {
	for _, why := range all {
		l.log.Hourly(l.log.Warn(), why).Msg(why)
	}
}

// unmade logs what could not be made beside the table. It returns the rest of the changes.
func (l *loop) unmade(changes []schema.Change) (made []schema.Change) {
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
