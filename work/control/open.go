package control

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/work/target"
)

// Time limits of our own statements and sessions.
const (
	ConnectLimit = remote.ConnectLimit
	// PrepareLimit covers everything that is checked and created before a target can be led.
	PrepareLimit = 3 * time.Minute

	// StreamLimit is the longest silence on a stream of the write-ahead log, on both sides.
	StreamLimit = 3 * time.Minute

	statementLimit = 30 * time.Second
	lockLimit      = 2 * time.Second
	silenceLimit   = 10 * time.Second // the server ends a session that is silent for so long (14 and later)
	statementCache = 64               // more than we have statements
)

// Limited sets a time limit for a call to the server. statement_timeout comes first; this one is
// for a server that does not answer.
func Limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, statementLimit+5*time.Second)
}

// Milliseconds formats a duration for a setting.
func Milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Errors of a server that can lead nothing now.
var (
	ErrRecovery = errors.New("the server is in recovery: it takes no writes until it is promoted")
	ErrReadOnly = errors.New("default_transaction_read_only is on for the role, the database or the server: tasks wait until it is off")
)

// Open opens a session with our own settings, whatever the role's are. It then ends the backend of
// the session before, if that still exists: it may run a statement that obeys no cancel, and would
// hold the leader's lock for ever. The error is a *Pooled if a pooler is on the way; first: it has not
// been found yet that none is.
func (c *Control) Open(ctx context.Context, first bool) error {
	former := c.Facts()
	cfg, err := c.config()
	if err != nil {
		return err
	}
	facts := &Facts{}
	if facts.Base, err = remote.Complete(c.target.Connect); err != nil {
		return err
	}
	opening, cancel := context.WithTimeout(ctx, ConnectLimit)
	defer cancel()
	c.conn, err = pgx.ConnectConfig(opening, cfg)
	if fault.Has(err, "42704") { // servers before 14 do not know the setting
		delete(cfg.RuntimeParams, "idle_session_timeout")
		c.conn, err = pgx.ConnectConfig(opening, cfg)
	}
	if err != nil {
		c.conn = nil
		return refusal(remote.Reason(err))
	}
	facts.Encoding = c.conn.PgConn().ParameterStatus("server_encoding")
	if err = direct(opening, c.conn.PgConn(), first); err == nil {
		err = endless(opening, c.conn, Milliseconds(PrepareLimit))
	}
	if err == nil {
		err = c.know(opening, facts)
	}
	if err == nil {
		c.Learn(facts)
		err = c.end(ctx, former)
	}
	if err != nil {
		c.Close()
	}
	return err
}

func (c *Control) config() (*pgx.ConnConfig, error) {
	cfg, err := ownConfig(c.target.Connect, map[string]string{
		"application_name":                    c.target.ControlName(),
		"idle_in_transaction_session_timeout": Milliseconds(statementLimit),
		"idle_session_timeout":                Milliseconds(silenceLimit),
		"statement_timeout":                   Milliseconds(statementLimit),
		"lock_timeout":                        Milliseconds(lockLimit),
	})
	if err != nil {
		return nil, err
	}
	if c.target.TimeZone != "" {
		cfg.RuntimeParams["TimeZone"] = c.target.TimeZone
	}
	// pgx allocates the cache in full for each target.
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = statementCache, 0
	if c.heard != nil {
		cfg.OnNotification = func(conn *pgconn.PgConn, n *pgconn.Notification) { c.heard(n, conn.PID()) }
	}
	return cfg, nil
}

// unmasked is as sql/part/unmasked.sql says.
const unmasked = "CASE WHEN set_config('role', 'none', true) <> '' THEN "

// know reads the facts of the session. It is an error if the server takes no writes.
func (c *Control) know(ctx context.Context, f *Facts) error {
	var recovery, readOnly bool
	err := c.conn.QueryRow(ctx, "SELECT pg_backend_pid(), current_user::text, current_setting('server_version_num')::int4, "+
		"current_setting('is_superuser')::bool, current_setting('TimeZone'), current_setting('synchronous_commit') = 'off', "+
		"pg_is_in_recovery(), current_setting('default_transaction_read_only')::bool").
		Scan(&f.PID, &f.Role, &f.Version, &f.Superuser, &f.TimeZone, &f.Lazy, &recovery, &readOnly)
	if err == nil {
		err = c.conn.QueryRow(ctx, "SELECT a.backend_start FROM pg_stat_get_activity("+unmasked+"pg_backend_pid() END) AS a").Scan(&f.Since)
	}
	switch {
	case err != nil:
		return err
	case recovery:
		return ErrRecovery
	case readOnly:
		return ErrReadOnly
	}
	return plansAlike(ctx, c.conn)
}

// end ends a former backend of ours, if it still exists.
func (c *Control) end(ctx context.Context, former *Facts) error {
	if former.PID == 0 {
		return nil
	}
	ctx, cancel := Limited(ctx)
	defer cancel()
	_, err := c.conn.Exec(ctx, "SELECT pg_terminate_backend($1) FROM pg_stat_get_activity("+unmasked+"$1::int4 END) AS a WHERE a.backend_start = $2",
		former.PID, former.Since)
	return err
}

// Admin opens a session as another user than the target's, to create what is missing.
func Admin(ctx context.Context, as remote.Settings) (*pgx.Conn, error) {
	cfg, err := ownConfig(as, map[string]string{
		"statement_timeout":  Milliseconds(statementLimit),
		"lock_timeout":       Milliseconds(lockLimit),
		"default_tablespace": "", // a database setting may name one that this user may not use
	})
	if err != nil {
		return nil, err
	}
	return connect(ctx, cfg)
}

// unconverted is a client_encoding with which the server sends text as it is stored. With UTF-8 a
// character that cannot be converted would end the stream.
const unconverted = "SQL_ASCII"

// Stream opens a connection for logical replication.
func Stream(ctx context.Context, t target.Target) (*pgconn.PgConn, error) {
	cfg, err := ownConfig(t.Connect, map[string]string{
		"replication":        "database",
		"role":               "none", // the login has the right to replicate
		"application_name":   t.ControlName(),
		"statement_timeout":  "0", // creating the slot may wait for the transactions of others
		"wal_sender_timeout": Milliseconds(StreamLimit),
	})
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["client_encoding"] = unconverted
	conn, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return conn.PgConn(), nil
}
