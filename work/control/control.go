package control

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/target"
)

// Control is the connection by which a target is led, or another one of the same kind. It can open
// one session after another, and outlasts them. One goroutine uses it at a time; any goroutine may
// call Facts and Queries.
type Control struct {
	target target.Target
	heard  func(n *pgconn.Notification, own uint32)

	conn    *pgx.Conn
	facts   atomic.Pointer[Facts]
	table   schema.Description
	queries atomic.Pointer[sql.Queries]
}

// Facts are read when a session opens. Only TimeZone can change afterwards.
type Facts struct {
	PID       int32
	Since     time.Time       // when the backend started
	Version   int             // server_version_num
	Role      string          // current_user: ALTER ROLE … SET role may have made it another role than the login
	Superuser bool            // the role is a superuser
	TimeZone  string          // the session's time zone, as it was set last
	Lazy      bool            // commits do not wait for the disk
	Encoding  string          // the database's encoding, by the server's name
	Base      remote.Settings // the settings that the connection really uses, which remotes inherit
}

// New returns a Control that is not open. It calls heard, which may be nil, with each notification
// and the process id of our session.
func New(t target.Target, heard func(n *pgconn.Notification, own uint32)) *Control {
	c := &Control{target: t, heard: heard}
	c.facts.Store(&Facts{})
	c.Describe(schema.Description{})
	return c
}

// Facts returns the facts of the session that was opened last; before that they are empty.
func (c *Control) Facts() *Facts { return c.facts.Load() }

// Learn sets the facts of the session.
func (c *Control) Learn(f *Facts) { c.facts.Store(f) }

// Opened reports whether a session is open.
func (c *Control) Opened() bool { return c.conn != nil && !c.conn.IsClosed() }

// Conn returns the connection, for the time of a call.
func (c *Control) Conn() *pgx.Conn { return c.conn }

// Close ends the session.
func (c *Control) Close() {
	if c.conn != nil {
		HangUp(c.conn)
	}
}

// HangUp closes a connection. That may take a second.
func HangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// Describe sets the description of the table, from which the statements follow.
func (c *Control) Describe(d schema.Description) {
	queries := query.Of(d, c.target.Relation())
	c.queries.Store(&queries)
	c.table = d
}

// Table returns the description of the table.
func (c *Control) Table() *schema.Description { return &c.table }

// Queries returns the statements on the table. Any goroutine may call it.
func (c *Control) Queries() sql.Queries { return *c.queries.Load() }

// Forget drops all prepared statements. If a column of the table had another type before, pgx would
// refuse the parameters, and the server would never see them.
func (c *Control) Forget(ctx context.Context) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	return c.conn.DeallocateAll(ctx)
}

// Follow sets the search_path of the session.
func (c *Control) Follow(ctx context.Context, path string) error {
	return c.set(ctx, "search_path", path)
}

// SetTimeZone sets the time zone of the session.
func (c *Control) SetTimeZone(ctx context.Context, name string) error {
	err := c.set(ctx, "TimeZone", name)
	if err == nil {
		facts := *c.Facts()
		facts.TimeZone = name
		c.facts.Store(&facts)
	}
	return err
}

func (c *Control) set(ctx context.Context, setting, value string) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	_, err := c.conn.Exec(ctx, "SELECT pg_catalog.set_config($1, $2, false)", setting, value)
	return err
}

// Ping makes a round trip, and the silence of the session begins again. A Sync alone
// does that without a transaction; even an empty query would be one.
func (c *Control) Ping(ctx context.Context) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	sync := c.conn.PgConn().StartPipeline(ctx)
	return errors.Join(sync.Sync(), sync.Close())
}

// Exec runs a query that returns nothing, and returns how many rows it has met.
func (c *Control) Exec(ctx context.Context, query string, args ...any) (rows int64, err error) {
	ctx, cancel := Limited(ctx)
	defer cancel()
	tag, err := c.conn.Exec(ctx, c.Queries().Text(query), args...)
	return tag.RowsAffected(), err
}

// Row runs a query that returns one row, and reads it into these variables.
func (c *Control) Row(ctx context.Context, query string, args []any, into ...any) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	return c.conn.QueryRow(ctx, c.Queries().Text(query), args...).Scan(into...)
}

// Each runs a query, reads each row into these variables, and then calls do.
func (c *Control) Each(ctx context.Context, query string, args, into []any, do func() error) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	rows, err := c.conn.Query(ctx, c.Queries().Text(query), args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, do)
	return err
}

// IDs runs a query that returns ids.
func (c *Control) IDs(ctx context.Context, query string, args ...any) (ids []int64, err error) {
	var id int64
	err = c.Each(ctx, query, args, []any{&id}, func() error {
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

// Send sends statements in one exchange with the server. If they open a transaction that fails,
// Send rolls it back.
func (c *Control) Send(ctx context.Context, batch *pgx.Batch) error {
	ctx, cancel := Limited(ctx)
	defer cancel()
	err := c.conn.SendBatch(ctx, batch).Close()
	if fault.IsAnswer(err) && c.conn.PgConn().TxStatus() != 'I' {
		_, _ = c.conn.Exec(ctx, "ROLLBACK")
	}
	return err
}

// Queue adds a query to a batch.
func (c *Control) Queue(batch *pgx.Batch, query string, args ...any) *pgx.QueuedQuery {
	return batch.Queue(c.Queries().Text(query), args...)
}
