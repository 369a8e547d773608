package bound

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server"
	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// asking starts a server that asks for this number of iterations.
func asking(t *testing.T, iterations string) *pgconn.Config {
	s, err := fake.Start(func(exchange fake.Exchange, right []fake.Message) fake.Answer {
		if exchange == fake.Continue {
			right[0].Body = bytes.Replace(right[0].Body, []byte(",i=1"), []byte(",i="+iterations), 1)
		}
		return fake.Right(right)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	cfg, err := pgconn.ParseConfig(s.DSN() + " sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// loggedIn logs in as a session for tasks does.
func loggedIn(ctx context.Context, cfg *pgconn.Config) error {
	Tasks(ctx, cfg, false, true, func(*Reader) {})
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// TestAServerAsksForFewIterations: we compute no proof that takes too long, for one connection or
// for many together. A login whose context has ended does not wait for the budget.
func TestAServerAsksForFewIterations(t *testing.T) {
	t.Parallel()
	refused := func(ctx context.Context, iterations, why string) {
		t.Helper()
		err := loggedIn(ctx, asking(t, iterations))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s iterations: %v", iterations, err)
		}
	}
	refused(t.Context(), "1000001", "more than 1000000: lower scram_iterations")
	refused(t.Context(), "10000000", "more than 1000000: lower scram_iterations")
	refused(t.Context(), "99999999999999999999", "more than 1000000: lower scram_iterations")
	refused(t.Context(), "1x", "invalid SCRAM iteration count")

	if err := loggedIn(t.Context(), asking(t, "1")); err != nil {
		t.Fatal(err)
	}

	cfg := asking(t, "10000000")
	Own(cfg)
	if _, err := pgconn.ConnectConfig(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "lower scram_iterations") {
		t.Errorf("a connection of our own: %v", err)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&login{waits: ended}).afford(iterationsFree); err != nil {
		t.Error(err)
	}
	if err := (&login{waits: ended}).afford(iterationsMost); err == nil || !strings.Contains(err.Error(), "come first") {
		t.Error(err)
	}
}

// TestAServerAsksForThePasswordOnce: a server that knows the password could ask forever.
func TestAServerAsksForThePasswordOnce(t *testing.T) {
	t.Parallel()
	asks := encoded('R', append([]byte{0, 0, 0, 11}, "r=ours+theirs,s=c2FsdA==,i=4096"...))
	for times, want := range map[int]string{1: "", 2: "again and again"} {
		b := &Reader{from: bytes.NewReader(bytes.Repeat(asks, times))}
		if heard, err := heard(b); len(heard) != 1 || want == "" && err != nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%d times: %v, %v", times, heard, err)
		}
	}
}

// TestAServerMayAskForManyIterations: we log in to a server that asks for more than the default.
func TestAServerMayAskForManyIterations(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{HBA: []string{"local all slow scram-sha-256"}})
	// The stored form of the password "secret", with 100,000 iterations.
	const secret = "'SCRAM-SHA-256$100000:c2FsdA==$5CnweF8Sf/gqqQCqkUiCPE1kRbi1d7Xf0jMDq9ATf88=:cbExdzu9MZCkCzJmerzIb6n4U6ys8DMhx9FAY1sfEtY='"
	servertest.Exec(t, servertest.Connect(t, s.DSN("postgres")), "CREATE ROLE slow LOGIN PASSWORD "+secret)
	cfg, err := pgconn.ParseConfig(s.DSN("postgres") + " user=slow password=secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := loggedIn(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}
