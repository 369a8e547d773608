package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
	"pgtaskd/work/pool"
)

// Begin begins a term. It asks where transactions are, if the role may know: rows tell it for whoever
// meets them somewhere else. Only where there is a register may the ledger have a connection of its own.
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

// connect opens a connection of its own, and has it registered before it writes: the next leader ends
// it.
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
