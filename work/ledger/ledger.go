package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is how a ledger reaches the server. The functions may be called from any goroutine.
type Config struct {
	Group   *routine.Group // its goroutine is one of them
	Target  target.Target
	Pool    *pool.Pool // its own connection is one of these backends
	Queries func() sql.Queries
	Wake    func() // has the loop call Step
}

// Ledger writes what is put into it. Put may be called from any goroutine; Step, Next and Stop are
// the loop's.
type Ledger struct {
	Config

	writes sync.Mutex // held by whoever writes a round
	loops  writer     // of Step

	mu      sync.Mutex
	queue   Queue
	more    chan struct{}      // poked by Put
	own     bool               // a goroutine of its own is at work, or about to be,
	owns    bool               // and has its connection
	stop    context.CancelFunc // of that goroutine
	stopped chan struct{}      // closed when it has ended
	failed  time.Time          // when its connection was refused last
	mayOwn  bool               // it may have one: there is a register, and we lead

	place, path atomic.Pointer[string] // see Place and Follow
}

// When a connection of its own is worth while, and for how long.
const (
	ownFrom    = 200             // entries
	ownIdle    = 4 * time.Second // without work; the server would end it after 10 s of silence
	ownAgain   = 5 * time.Second // from a failure to the next try
	roundLimit = 30 * time.Second
	gatherFor  = 2 * time.Millisecond // after a round, for more ends;
	gatherFew  = gatherFor * 2 / 5    // after one of few: a lone end goes at once, nearly, and one in a lane with what follows it
)

// New returns one with nothing to write.
func New(c Config) *Ledger { return &Ledger{Config: c, more: make(chan struct{}, 1)} }

// Put adds entries.
func (l *Ledger) Put(entries ...*Entry) {
	l.mu.Lock()
	for _, e := range entries {
		l.queue.Seen(e)
	}
	owns := l.owns
	if !l.own && (l.queue.Urgent() || l.queue.Len() >= ownFrom) && time.Since(l.failed) >= ownAgain && l.mayOwn && !l.Pool.Short() {
		l.begin()
	}
	l.mu.Unlock()
	if !owns {
		l.Wake()
		return
	}
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// begin starts the goroutine; mu is held.
func (l *Ledger) begin() {
	ctx, stop := context.WithCancel(l.Group.Context())
	l.own, l.stop, l.stopped = true, stop, make(chan struct{})
	stopped := l.stopped
	l.Group.Go(func() {
		defer close(stopped)
		defer stop()
		l.work(ctx)
	})
}

// work writes on a connection of its own, as long as there is something to write.
func (l *Ledger) work(ctx context.Context) {
	conn, closeConn, err := l.connect(ctx)
	l.mu.Lock()
	if l.owns = err == nil; !l.owns {
		l.own, l.failed = false, time.Now()
	}
	l.mu.Unlock()
	if err != nil {
		l.Wake()
		return
	}
	defer closeConn()
	own, used, gather := &writer{Conn: conn, lazy: true}, time.Now(), gatherFew
	for err == nil && l.await(ctx, used, gather) {
		var wrote []*waiting
		wrote, err = l.round(ctx, own)
		used, gather = time.Now(), gatherAfter(wrote)
	}
	l.mu.Lock()
	l.own, l.owns = false, false
	l.mu.Unlock()
	l.Wake() // for what has come meanwhile
}

// gatherAfter is how long more is waited for after a round.
func gatherAfter(wrote []*waiting) time.Duration {
	switch {
	case len(wrote) == 1 && wrote[0].Kind.urgent():
		return 0 // its session waits for its COMMIT now, and comes back
	case len(wrote) <= few:
		return gatherFew
	}
	return gatherFor
}

// await waits for something to write; false: nothing has come for ownIdle since the last round. If
// no session waits in an open transaction, await waits a moment for more entries: a round costs as
// much as ten rows.
func (l *Ledger) await(ctx context.Context, used time.Time, gather time.Duration) bool {
	for {
		l.mu.Lock()
		rest := l.queue.Rest(time.Now())
		if !l.queue.Urgent() && l.queue.Len() < ownFrom {
			rest = max(rest, gather-time.Since(used))
		}
		l.mu.Unlock()
		idle := ownIdle - time.Since(used)
		switch {
		case rest <= 0:
			return true
		case idle <= 0:
			return false
		}
		select {
		case <-l.more:
		case <-time.After(min(rest, idle)):
		case <-ctx.Done():
			return false
		}
	}
}

// Step writes a round on the loop's connection, where there is no other. The error is one of the
// connection, or of the table as a whole.
func (l *Ledger) Step(ctx context.Context, conn *pgx.Conn) error {
	l.mu.Lock()
	owns := l.owns
	l.mu.Unlock()
	if owns {
		return nil
	}
	if l.loops.Conn != conn {
		l.loops = writer{Conn: conn}
	}
	_, err := l.round(ctx, &l.loops)
	return err
}

// Next is when Step is to be called again.
func (l *Ledger) Next() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owns {
		return hold.Never
	}
	return l.queue.Rest(time.Now())
}

// Len is how many entries wait.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.Len()
}

// Stop ends the ledger's own connection, and the round under way there; there is no other until
// Begin. It withdraws the entries. Those that sessions wait for stay for the next term, unless
// decline is set.
func (l *Ledger) Stop(decline bool) {
	l.mu.Lock()
	l.mayOwn = false
	stop, stopped := l.stop, l.stopped
	l.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.queue.Take() {
		if e.Kind.urgent() && !decline {
			l.queue.add(e)
		} else {
			e.Tell(Answer{Result: Withdrawn})
		}
	}
}

// Begin begins a term. It asks in which server and database our transactions are, if the role may
// know: prepared rows show that place, in case the table is restored elsewhere. If there is no
// register, the ledger gets no connection of its own.
func (l *Ledger) Begin(ctx context.Context, c *control.Control) error {
	var place string
	switch err := c.Row(ctx, "place", nil, &place); {
	case err == nil:
		l.place.Store(&place)
	case !fault.IsDenied(err):
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mayOwn = c.Table().Register != 0
	return nil
}

// Place is where transactions are, as xact_at says; nil: not known. Any goroutine may call it.
func (l *Ledger) Place() *string { return l.place.Load() }

// Follow has connections of its own have that search_path from now on; nil: the server's alone.
func (l *Ledger) Follow(path *string) { l.path.Store(path) }

// connect opens a connection of the ledger's own. It is registered before its first round, so that
// the next leader ends it.
func (l *Ledger) connect(ctx context.Context) (conn *pgx.Conn, closeConn func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, control.ConnectLimit)
	defer cancel()
	c := control.New(l.Target, nil)
	if err := c.Open(ctx); err != nil {
		return nil, nil, err
	}
	b := pool.Backend{PID: c.Facts().PID, Since: c.Facts().Since}
	closeConn = func() {
		c.Close()
		l.Pool.Leave(b)
	}
	_, err = c.Conn().Exec(ctx, "SET lock_timeout = '"+patience+"'; SET synchronous_commit = off") // to prepare a statement may wait for a lock, too
	if err == nil {
		err = l.Pool.Register(ctx, b, 0)
	}
	if path := l.path.Load(); err == nil && path != nil {
		err = c.Follow(ctx, *path)
	}
	if err != nil {
		closeConn()
	}
	return c.Conn(), closeConn, err
}
