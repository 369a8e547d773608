package servertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pgtaskd/major"
	"pgtaskd/server"
)

// timeout bounds one step of setting up or cleaning up, on a busy machine.
const timeout = time.Minute

// settings suit tests: fast, no durability beyond the process, everything that pgtaskd can use is
// on.
var settings = map[string]string{
	"fsync":                     "off",
	"full_page_writes":          "off",
	"wal_level":                 "logical",
	"max_connections":           "300",
	"max_wal_senders":           "20",
	"max_replication_slots":     "20",
	"max_prepared_transactions": "20",
	"timezone":                  "UTC",
}

var (
	shared = sync.OnceValues(func() (*server.Server, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		s, err := server.Start(ctx, server.Options{Settings: settings})
		running.Store(s)
		return s, err
	})
	running   atomic.Pointer[server.Server] // the shared server, if a test has asked for it
	databases atomic.Int64
)

// Main runs a package's tests, stops the shared server and exits. A goroutine that is left over is
// a failure. TestMain need not do more. (After a panic or os.Exit in a test the server stops with
// the process.)
func Main(m *testing.M) {
	code := m.Run()
	if s := running.Load(); s != nil {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Server returns the server that the tests of a package share. The first call starts it. Tests must
// leave it running: those that crash or reconfigure a server start their own by New.
func Server(t testing.TB) *server.Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// New starts a server for this test alone, and stops it when the test ends. Options win over the
// shared server's settings.
func New(t testing.TB, options server.Options) *server.Server {
	t.Helper()
	merged := maps.Clone(settings)
	maps.Copy(merged, options.Settings)
	options.Settings = merged
	return own(t, func(ctx context.Context) (*server.Server, error) { return server.Start(ctx, options) })
}

// Standby starts a standby of a server for this test alone.
func Standby(t testing.TB, of *server.Server) *server.Server {
	t.Helper()
	return own(t, of.Standby)
}

func own(t testing.TB, start func(context.Context) (*server.Server, error)) *server.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	s, err := start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Database makes an empty database on the shared server and returns its connection string. When the
// test ends, it is dropped, and remaining sessions are ended.
func Database(t testing.TB) (dsn string) {
	t.Helper()
	return copied(t, "template1")
}

// Template is a database that is made once and copied for each test, which is quicker than making
// it each time.
type Template struct {
	// Make fills the database.
	Make func(ctx context.Context, conn *pgx.Conn) error

	once sync.Once
	name string
	err  error
}

// Database is like the function Database, but copies the template.
func (f *Template) Database(t testing.TB) (dsn string) {
	t.Helper()
	s := Server(t)
	f.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		f.name = fmt.Sprintf("template_%d", databases.Add(1))
		if f.err = onServer(ctx, s, "postgres", func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "CREATE DATABASE "+f.name+Strategy(conn))
			return err
		}); f.err == nil {
			f.err = onServer(ctx, s, f.name, func(conn *pgx.Conn) error { return f.Make(ctx, conn) })
		}
	})
	if f.err != nil {
		t.Fatal(f.err)
	}
	return copied(t, f.name)
}

func copied(t testing.TB, template string) (dsn string) {
	t.Helper()
	s := Server(t)
	name := fmt.Sprintf("test_%d", databases.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := onServer(ctx, s, "postgres", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+Strategy(conn))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := onServer(ctx, s, "postgres", func(conn *pgx.Conn) error { return Drop(ctx, conn, name) }); err != nil {
			t.Errorf("dropping database %s of %s: %v", name, t.Name(), err)
		}
	})
	return s.DSN(name)
}

// Lacks tells whether the shared server lacks a feature. A test of it is then over.
func Lacks(t testing.TB, feature major.Feature) bool {
	t.Helper()
	return !feature.Of(Connect(t, Server(t).DSN("postgres")))
}

// Strategy is the end of a CREATE DATABASE. Copying files is several times as fast as a copy
// through the log.
func Strategy(conn *pgx.Conn) string {
	if !major.CopyStrategy.Of(conn) { // it always copies files
		return ""
	}
	return " STRATEGY file_copy"
}

func onServer(ctx context.Context, s *server.Server, database string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}

// Drop ends the database's sessions first and waits until they are gone: DROP DATABASE … WITH
// (FORCE) fails if replication slots are in use, and servers before 13 have no FORCE. It fails if a
// prepared transaction is left.
func Drop(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false"); err != nil {
		return err
	}
	for {
		var left int
		err := conn.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1", name).Scan(&left)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err := conn.Exec(ctx, "DROP DATABASE "+name)
	return err
}
