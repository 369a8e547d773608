package exec

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
	"pgtaskd/server/fake"
)

// TestAPanicWhileConnectingIsAnError: a server may make the client library panic.
func TestAPanicWhileConnectingIsAnError(t *testing.T) {
	t.Parallel()
	cfg, err := pgconn.ParseConfig("host=127.0.0.1 sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { panic("nobody thought of this") }
	s, err := Connect(t.Context(), cfg, time.Second, false, true)
	if p := new(routine.Panic); s != nil || !errors.As(err, &p) || !strings.Contains(p.Value, "nobody") {
		t.Errorf("session %v, error %v", s, err)
	}
}

// TestAPanicInACancelEndsTheCrew: and exit still returns.
func TestAPanicInACancelEndsTheCrew(t *testing.T) {
	t.Parallel()
	server, err := fake.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	cfg, err := pgconn.ParseConfig(server.DSN() + " sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	var dialed atomic.Int64
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dialed.Add(1) > 1 {
			panic("nobody thought of this")
		}
		return dial(ctx, network, address)
	}
	s, err := Connect(t.Context(), cfg, time.Second, false, true)
	if err != nil {
		t.Fatal(err)
	}
	crew := routine.New(t.Context())
	s.Within(crew)
	s.cancel.enter(time.Hour)
	s.Cancel(Stopped)
	<-crew.Context().Done()
	if reason := s.cancel.exit(); reason != Stopped {
		t.Errorf("cancelled as %v", reason)
	}
	s.Close()
	crew.Wait()
	if crew.Panicked() == nil {
		t.Error("no panic")
	}
}
