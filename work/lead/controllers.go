package lead

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
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

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
