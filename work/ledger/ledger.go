package ledger

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/routine"
	"pgtaskd/work/control"
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
	lines       [2]*line
	place, path atomic.Pointer[string] // see Place and Follow
}

// New returns a Ledger without entries.
func New(c Config) *Ledger {
	l := &Ledger{Config: c}
	for i := range l.lines {
		l.lines[i] = &line{Ledger: l, more: make(chan struct{}, 1)}
	}
	return l
}

// Put adds entries. Those of the second line wait for the disk, or for a synchronous standby; those
// of the first do not wait for them.
func (l *Ledger) Put(entries ...*Entry) {
	var each [2][]*Entry
	for _, e := range entries {
		i := 0
		if e.Kind.urgent() && e.Flush {
			i = 1
		}
		each[i] = append(each[i], e)
	}
	for i, some := range each {
		if len(some) > 0 {
			l.lines[i].put(some)
		}
	}
}

// Step writes a round of each line on the loop's connection, unless the line has its own. An error
// concerns the connection or the table as a whole.
func (l *Ledger) Step(ctx context.Context, conn *pgx.Conn) error {
	for _, one := range l.lines {
		if err := one.step(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// Next returns how long the loop may wait before it calls Step.
func (l *Ledger) Next() time.Duration { return min(l.lines[0].next(), l.lines[1].next()) }

// Len returns the number of entries that wait.
func (l *Ledger) Len() int { return l.lines[0].length() + l.lines[1].length() }

// Stop ends the rounds on the ledger's own connections and closes these; the ledger gets no new
// connections until Begin. Stop withdraws all entries, except those that sessions wait for: these
// stay for the next term, unless decline is set.
func (l *Ledger) Stop(decline bool) {
	for _, one := range l.lines {
		one.halt(decline)
	}
}

// Begin begins a term. It reads which server and database our transactions are in, if the role may
// know. Prepared rows show that place, in case the table is restored elsewhere. Without a register
// the ledger gets no connections of its own.
func (l *Ledger) Begin(ctx context.Context, c *control.Control) error {
	var place string
	switch err := c.Row(ctx, "place", nil, &place); {
	case err == nil:
		l.place.Store(&place)
	case !fault.IsDenied(err):
		return err
	}
	for _, one := range l.lines {
		one.mu.Lock()
		one.mayOwn = c.Table().Register != 0
		one.mu.Unlock()
	}
	return nil
}

// Place returns where our transactions are, as in xact_at; nil: unknown. Any goroutine may call it.
func (l *Ledger) Place() *string { return l.place.Load() }

// Follow sets the search_path of the ledger's own connections; nil: only the server's path.
func (l *Ledger) Follow(path *string) { l.path.Store(path) }
