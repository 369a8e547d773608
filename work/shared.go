package work

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ends"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/install"
	"pgtaskd/work/lead"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// shared is what the loop and its leader have in common. It outlasts terms.
type shared struct {
	target  target.Target
	log     *target.Log
	stats   *target.Stats
	live    atomic.Pointer[target.Live] // settings of the target, or what it was told since; any goroutine may read it
	crew    *routine.Group              // all goroutines of the loop, and of its sessions
	control *control.Control
	notices wake.Notices
	wake    *wake.Waker
	runs    *run.Dispatcher // any goroutine may use it
	tasks   inflight.Tasks  // read by us, until their end is written
	holds   *hold.Holds     // tasks that could not be taken just now, or have refused a change
	tries   *hold.Tries
	changes *change.Changer
	ends    *ends.Ends
	ledger  *ledger.Ledger
	leads   *lead.Lead
	table   *install.Table
	drain   drain
}

func newShared(ctx context.Context, t target.Target, log *target.Log) *shared {
	s := &shared{
		target: t, log: log, stats: t.Stats, crew: routine.New(ctx),
		tasks: inflight.Tasks{}, holds: hold.NewHolds(), tries: hold.NewTries(),
	}
	s.live.Store(&s.target.Live)
	if latest := t.Changes.Latest(); latest != nil {
		s.live.Store(latest)
	}
	s.control = control.New(t, func(n *pgconn.Notification, own uint32) { s.notices.Take(n, sql.Channel(t.Relation()), own) })
	return s
}

// closeLater ends sessions while the loop goes on: a server takes its time to let them go.
func (s *shared) closeLater(old []*pool.Session) {
	if len(old) > 0 {
		s.crew.Go(func() { pool.Close(old) })
	}
}

// dropWaiting forgets all that was read and has not started.
func (s *shared) dropWaiting() {
	s.tasks.Forget(s.runs.Lanes.Forget())
}

// load is what runs, is due and does not, and how many sessions there are. Any goroutine may call it.
func (s *shared) load() (running, ready, sessions int) {
	busy, prefetched, ready := s.runs.Lanes.Load()
	return busy, prefetched + ready, s.runs.Pool.Count()
}

// busy tells whether tasks of ours run, or their ends are still to be written.
func (s *shared) busy() bool { return len(s.tasks) > 0 }

// poll is how often to look where nothing tells of changes.
func (s *shared) poll() time.Duration { return s.live.Load().Sleep }
