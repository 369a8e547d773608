package server_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

func ask(t *testing.T, dsn, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var value string
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := servertest.Server(t)
	for _, dsn := range []string{s.DSN("postgres"), s.TCP("postgres")} {
		if got := ask(t, dsn, "SELECT current_user || ' ' || current_setting('server_encoding')"); got != "postgres UTF8" {
			t.Errorf("got %q", got)
		}
	}
}

func TestTCPAsksForPassword(t *testing.T) {
	t.Parallel()
	config, err := pgconn.ParseConfig(servertest.Server(t).TCP("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "wrong"
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	if err == nil {
		_ = conn.Close(t.Context())
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "28P01" {
		t.Errorf("got %v, want invalid_password", err)
	}
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	one, two := servertest.Database(t), servertest.Database(t)
	if ask(t, one, "SELECT current_database()") == ask(t, two, "SELECT current_database()") {
		t.Error("two tests would share a database")
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{
		Settings: map[string]string{"work_mem": "5MB", "cluster_name": `it's \ one`},
		HBA:      []string{"host all postgres 127.0.0.1/32 trust"},
	})
	if got := ask(t, s.DSN("postgres"), "SELECT current_setting('work_mem') || current_setting('cluster_name')"); got != `5MBit's \ one` {
		t.Errorf("got %q", got)
	}
	config, err := pgx.ParseConfig(s.TCP("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	config.Password = ""
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatalf("the line of pg_hba.conf does not hold: %v", err)
	}
	_ = conn.Close(t.Context())
}

func TestCrashAndRestart(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{})
	ask(t, s.DSN("postgres"), "WITH made AS (SELECT lo_from_bytea(4711, 'kept')) SELECT 'made' FROM made")
	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), s.DSN("postgres")); err == nil {
		t.Fatal("the server still answers after Crash")
	}
	for range 2 { // once after the crash, once while it runs
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s.TCP("postgres"), "SELECT convert_from(lo_get(4711), 'UTF8')"); got != "kept" {
			t.Errorf("got %q", got)
		}
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	s, err := server.Start(t.Context(), server.Options{Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(s.SocketDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a stopped server cannot be restarted")
	}
}

func TestInstallLeavesAloneWhatIsThere(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := server.Install(t.Context(), &out); err != nil || out.Len() > 0 {
		t.Errorf("got %v, said %q", err, out.String())
	}
}

func TestInstallDoesNotReplaceWrongFolder(t *testing.T) {
	t.Setenv("PG_BINDIR", t.TempDir())
	var out strings.Builder
	if err := server.Install(t.Context(), &out); !errors.Is(err, server.ErrNoBinaries) || !strings.Contains(out.String(), "PG_BINDIR") {
		t.Errorf("got %v, said %q", err, out.String())
	}
}
