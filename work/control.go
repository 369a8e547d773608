package work

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// Limits of the controller's own statements and of its silence.
const (
	statementLimit = 30 * time.Second
	lockLimit      = 2 * time.Second
	beat           = 4 * time.Second  // the control session is never silent for longer,
	beatGrid       = time.Second      // nor for shorter than by this less, where nothing asks for it
	silenceLimit   = 10 * time.Second // the server ends a control session that is (14 and later)
	connectLimit   = remote.ConnectLimit
	statementCache = 64              // more than there are statements
	prepareLimit   = 3 * time.Minute // for all that is looked at and created before a target can be led
)

// What is wrong with a server on which nothing can be led now.
var (
	errRecovery = errors.New("the server is in recovery: it takes no writes until it is promoted")
	errReadOnly = errors.New("default_transaction_read_only is on for the role, the database or the server: tasks wait until it is off")
)

// control is the connection under which a target is led. It never runs a user's SQL. It belongs to
// the loop.
type control struct {
	conn      *pgx.Conn
	pid       int32
	since     time.Time // start of the backend
	version   int       // server_version_num
	superuser bool
	timeZone  string
	lazy      bool   // commits did not wait for the disk when it was opened
	encoding  string // of the database, by the server's name
	queries   sql.Queries
	table     sql.Description
	base      remote.Settings // what the connection really uses, and remotes inherit
	notices   wake.Notices
	leads     leadership
}

// startup are the parameters of a session that ends when it has nothing from us for long; name is its
// application_name.
func startup(name string) map[string]string {
	return map[string]string{
		"application_name":                    name,
		"idle_in_transaction_session_timeout": milliseconds(statementLimit),
		"idle_session_timeout":                milliseconds(silenceLimit),
		"statement_timeout":                   milliseconds(statementLimit),
		"lock_timeout":                        milliseconds(lockLimit),
	}
}

// connect opens a control connection with settings of its own, whatever the role's are.
func connect(ctx context.Context, t target.Target) (*control, error) {
	cfg, err := ownConfig(t.Connect, startup(t.ControlName()))
	if err != nil {
		return nil, err
	}
	if t.TimeZone != "" {
		cfg.RuntimeParams["TimeZone"] = t.TimeZone
	}
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = statementCache, 0 // made in full for each target
	c := &control{}
	changes := sql.Channel(t.Relation())
	if c.base, err = remote.Complete(t.Connect); err != nil {
		return nil, err
	}
	cfg.OnNotification = func(conn *pgconn.PgConn, n *pgconn.Notification) { c.notices.Take(n, changes, conn.PID()) }
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	c.conn, err = pgx.ConnectConfig(ctx, cfg)
	if fault.Has(err, "42704") { // servers before 14 do not know it
		delete(cfg.RuntimeParams, "idle_session_timeout")
		c.conn, err = pgx.ConnectConfig(ctx, cfg)
	}
	if err != nil {
		return nil, remote.Reason(err)
	}
	c.encoding = c.conn.PgConn().ParameterStatus("server_encoding")
	if err = endless(ctx, c.conn, milliseconds(prepareLimit)); err == nil {
		err = c.know(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// forget lets go of what statements were prepared for: where a column of the table had another type,
// parameters are refused here, which the server does not see.
func (c *control) forget(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	return c.conn.DeallocateAll(ctx)
}

// know reads what has to be known of the session and its server.
func (c *control) know(ctx context.Context) error {
	var recovery, readOnly bool
	err := c.conn.QueryRow(ctx, "SELECT pg_backend_pid(), (SELECT a.backend_start FROM pg_stat_get_activity(pg_backend_pid()) AS a), current_setting('server_version_num')::int4, "+
		"current_setting('is_superuser')::bool, current_setting('TimeZone'), current_setting('synchronous_commit') = 'off', "+
		"pg_is_in_recovery(), current_setting('default_transaction_read_only')::bool").
		Scan(&c.pid, &c.since, &c.version, &c.superuser, &c.timeZone, &c.lazy, &recovery, &readOnly)
	switch {
	case err != nil:
		return err
	case recovery:
		return errRecovery
	case readOnly:
		return errReadOnly
	}
	return plansAlike(ctx, c.conn)
}

// end ends the backend of the control connection before this one, if it is still there: it may be at
// a statement that does not obey, and would hold the lock of the leader for ever.
func (c *control) end(ctx context.Context, former *control) error {
	if former == nil || former.pid == 0 {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err := c.conn.Exec(ctx, "SELECT pg_terminate_backend($1) FROM pg_stat_get_activity($1) AS a WHERE a.backend_start = $2",
		former.pid, former.since)
	return err
}

func (c *control) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.conn.Close(ctx)
}

// follow sets the search_path.
func (c *control) follow(ctx context.Context, path string) error {
	_, err := c.conn.Exec(ctx, "SELECT set_config('search_path', $1, false)", path)
	return err
}

// limited bounds a call to the server: statement_timeout ends it there, this where the server does
// not answer.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, statementLimit+5*time.Second)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
