package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
)

// line writes the entries of its queue, one round after the other.
type line struct {
	*Ledger

	writes sync.Mutex // held during a round
	loops  writer     // for step

	mu      sync.Mutex
	queue   Queue
	more    chan struct{}      // signalled by put
	own     bool               // the line's goroutine runs, or is about to,
	owns    bool               // and has its connection open
	stop    context.CancelFunc // stops that goroutine
	stopped chan struct{}      // closed when that goroutine has ended
	failed  time.Time          // when the last attempt to connect failed
	mayOwn  bool               // the line may have its own connection: we lead, and there is a register
}

// Limits of a line's own connection.
const (
	ownFrom    = 200             // the line connects when this many entries wait
	ownIdle    = 4 * time.Second // without work; the server would end a silent session after 10 s
	ownAgain   = 5 * time.Second // from a failed connection to the next attempt
	roundLimit = 30 * time.Second
	gatherFor  = 2 * time.Millisecond // waits this long after a round for more ends
	// After a small round the wait is shorter: a single end goes nearly at once, and in a lane it
	// goes together with the end of the task that follows.
	gatherFew = gatherFor * 2 / 5
)

// put adds entries.
func (l *line) put(entries []*Entry) {
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
func (l *line) begin() {
	ctx, stop := context.WithCancel(l.Group.Context())
	l.own, l.stop, l.stopped = true, stop, make(chan struct{})
	stopped := l.stopped
	l.Group.Go(func() {
		defer close(stopped)
		defer stop()
		l.work(ctx)
	})
}

// work writes rounds on the line's own connection, until nothing has come for ownIdle.
func (l *line) work(ctx context.Context) {
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
// If no session waits, it waits a little longer for more entries: a round costs as much as ten rows.
func (l *line) await(ctx context.Context, used time.Time, gather time.Duration) bool {
	for {
		l.mu.Lock()
		rest := l.queue.Rest(time.Now())
		if l.queue.Len() < ownFrom && !l.queue.Awaited() {
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

// step writes a round on the loop's connection, unless the line has its own.
func (l *line) step(ctx context.Context, conn *pgx.Conn) error {
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

// next returns how long the loop may wait before it calls step.
func (l *line) next() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owns {
		return hold.Never
	}
	return l.queue.Rest(time.Now())
}

func (l *line) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.Len()
}

// halt is Stop for one line.
func (l *line) halt(decline bool) {
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

// connect opens the line's own connection. It registers the session before the first round, so
// that the next leader can end it.
func (l *line) connect(ctx context.Context) (conn *pgx.Conn, closeConn func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, control.ConnectLimit)
	defer cancel()
	c := control.New(l.Target, nil)
	if err := c.Open(ctx, false); err != nil {
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
