package proxy_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// open starts a proxy for the tests' server, and returns a connection string through it.
func open(t *testing.T) (*proxy.Proxy, string) {
	t.Helper()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p, p.DSN(servertest.Server(t).DSN("postgres"))
}

func one(ctx context.Context, conn *pgx.Conn) error {
	var n int
	err := conn.QueryRow(ctx, "SELECT 1").Scan(&n)
	return err
}

func TestPass(t *testing.T) {
	t.Parallel()
	_, dsn := open(t)
	conn := servertest.Connect(t, dsn)
	var long string
	if err := conn.QueryRow(t.Context(), "SELECT repeat('x', 3000000)").Scan(&long); err != nil || len(long) != 3000000 {
		t.Fatal(len(long), err)
	}
	n := 0
	rows, err := conn.Query(t.Context(), "SELECT generate_series(1, 20000)")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		n++
	}
	if rows.Err() != nil || n != 20000 {
		t.Fatal(n, rows.Err())
	}
}

func TestTCP(t *testing.T) {
	t.Parallel()
	s := servertest.Server(t)
	p, err := proxy.Start(net.JoinHostPort("127.0.0.1", portOf(s.TCP("postgres"))))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if err := one(t.Context(), servertest.Connect(t, p.DSN(s.TCP("postgres")))); err != nil {
		t.Error(err)
	}
}

func portOf(dsn string) string {
	_, port, _ := strings.Cut(dsn, "port=")
	port, _, _ = strings.Cut(port, " ")
	return port
}

func TestCancelRequest(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	conn := servertest.Connect(t, dsn)
	seen := make(chan int, 1)
	p.Watch(func(conn int, _ bool, kind byte, body []byte) proxy.Verdict {
		if kind == 'Q' && strings.HasPrefix(string(body), "SELECT pg_sleep") {
			seen <- conn
		}
		if kind == proxy.CancelRequest {
			seen <- conn
		}
		return proxy.Pass
	})
	result := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().Exec(context.Background(), "SELECT pg_sleep(60)").ReadAll()
		result <- err
	}()
	if n := <-seen; n != 1 {
		t.Error("the query came on connection", n)
	}
	awaitActive(t, conn.PgConn().PID())
	if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 2 {
		t.Error("the cancel request came on connection", n)
	}
	var e *pgconn.PgError
	if err := <-result; !errors.As(err, &e) || e.Code != "57014" {
		t.Error(err)
	}
	if err := one(t.Context(), conn); err != nil {
		t.Error(err)
	}
}

// awaitActive returns as soon as a backend runs a statement.
func awaitActive(t *testing.T, pid uint32) {
	t.Helper()
	direct := servertest.Connect(t, servertest.Server(t).DSN("postgres"))
	for active := false; !active; {
		if err := direct.QueryRow(t.Context(), "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $1", pid).Scan(&active); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	first, second := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
	p.Cut()
	for _, conn := range []*pgx.Conn{first, second} {
		if err := one(t.Context(), conn); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Error(err)
		}
	}
	if err := one(t.Context(), servertest.Connect(t, dsn)); err != nil {
		t.Error("after the cut:", err)
	}
}

func TestStall(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	conn := servertest.Connect(t, dsn)
	p.Stall(true)
	p.Stall(true)
	result := make(chan error, 2)
	go func() { result <- one(context.Background(), conn) }()
	go func() { // a new connection
		conn, err := pgx.Connect(context.Background(), dsn)
		if err == nil {
			err = conn.Close(context.Background())
		}
		result <- err
	}()
	select {
	case err := <-result:
		t.Error("not stalled:", err)
	case <-time.After(100 * time.Millisecond): // nothing happens, so there is nothing else to wait for
	}
	p.Stall(false)
	p.Stall(false)
	for range 2 {
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
	p.Stall(true)
	go func() { result <- one(context.Background(), conn) }()
	p.Cut()
	if err := <-result; err == nil {
		t.Error("a stalled connection was not cut")
	}
	p.Stall(false)
	if err := one(t.Context(), servertest.Connect(t, dsn)); err != nil {
		t.Error(err)
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	conn := servertest.Connect(t, dsn)
	const delay = 50 * time.Millisecond
	p.Delay(delay)
	begin := time.Now()
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 2*delay {
		t.Error("took", took)
	}
	p.Delay(0)
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	conn := servertest.Connect(t, dsn)
	p.Refuse(true)
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Error("not refused")
	}
	if err := one(t.Context(), conn); err != nil {
		t.Error(err)
	}
	p.Refuse(false)
	if err := one(t.Context(), servertest.Connect(t, dsn)); err != nil {
		t.Error(err)
	}
}

func TestServerThatIsGone(t *testing.T) {
	t.Parallel()
	p, err := proxy.Start("/nonexistent/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if _, err := pgx.Connect(t.Context(), p.DSN("user=postgres")); err == nil {
		t.Error("connected to nothing")
	}
}
