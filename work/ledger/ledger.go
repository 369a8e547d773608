package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/routine"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config says how a ledger reaches the server. Any goroutine may call its functions.
type Config struct {
	Group   *routine.Group // the ledger's goroutine belongs to this group
	Target  target.Target
	Control *control.Control // the ledger calls its Queries only
	Pool    *pool.Pool       // the ledger's own connection is one of the pool's backends
	Wake    func()           // makes the loop call Step
}

// Ledger writes the entries that Put adds. Any goroutine may call Put; Step, Next and Stop belong
// to the loop.
type Ledger struct {
	Config

	writes sync.Mutex // held during a round
	loops  writer     // for Step

	mu      sync.Mutex
	queue   Queue
	more    chan struct{}      // signalled by Put
	own     bool               // the ledger's goroutine runs, or is about to,
	owns    bool               // and has its connection open
	stop    context.CancelFunc // stops that goroutine
	stopped chan struct{}      // closed when that goroutine has ended
	failed  time.Time          // when the last attempt to connect failed
	mayOwn  bool               // the ledger may have its own connection: we lead, and there is a register

	place, path atomic.Pointer[string] // see Place and Follow
}

// Limits of the ledger's own connection.
const (
	ownFrom    = 200             // the ledger connects when this many entries wait
	ownIdle    = 4 * time.Second // without work; the server would end a silent session after 10 s
	ownAgain   = 5 * time.Second // from a failed connection to the next attempt
	roundLimit = 30 * time.Second
	gatherFor  = 2 * time.Millisecond // waits this long after a round for more ends
	// After a small round the wait is shorter: a single end goes nearly at once, and in a lane it
	// goes together with the end of the task that follows.
	gatherFew = gatherFor * 2 / 5
)

// New returns a Ledger without entries.
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

// begin starts the goroutine. The caller holds mu.
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

// work writes rounds on the ledger's own connection, until nothing has come for ownIdle.
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
	l.Wake() // entries may have come since the last round
}

// gatherAfter returns how long to wait for more entries after a round.
func gatherAfter(wrote []*waiting) time.Duration {
	switch {
	case len(wrote) == 1 && wrote[0].Kind.urgent():
		return 0 // the session waits for its COMMIT now, and will come back
	case len(wrote) <= few:
		return gatherFew
	}
	return gatherFor
}

// await waits until there is something to write. It returns false if nothing has come for ownIdle.
// If no session waits in an open transaction, it waits a little longer for more entries: a round
// costs as much as ten rows.
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

// Step writes a round on the loop's connection, unless the ledger has its own. An error concerns
// the connection or the table as a whole.
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

// Next returns how long the loop may wait before it calls Step.
func (l *Ledger) Next() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owns {
		return hold.Never
	}
	return l.queue.Rest(time.Now())
}

// Len returns the number of entries that wait.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.Len()
}

// Stop ends the round on the ledger's own connection and closes that; the ledger gets no new
// connection until Begin. Stop withdraws all entries, except those that sessions wait for: these
// stay for the next term, unless decline is set.
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

// Begin begins a term. It reads which server and database our transactions are in, if the role may
// know. Prepared rows show that place, in case the table is restored elsewhere. Without a register
// the ledger gets no connection of its own.
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

// Place returns where our transactions are, as in xact_at; nil: unknown. Any goroutine may call it.
func (l *Ledger) Place() *string { return l.place.Load() }

// Follow sets the search_path of the ledger's own connections; nil: only the server's path.
func (l *Ledger) Follow(path *string) { l.path.Store(path) }

// connect opens the ledger's own connection. It registers the session before the first round, so
// that the next leader can end it.
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
	// Preparing a statement may wait for a lock, too.
	_, err = c.Conn().Exec(ctx, "SET lock_timeout = '"+patience+"'; SET synchronous_commit = off")
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
