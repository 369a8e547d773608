package servertest_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestDatabaseIsDroppedUnderItsSessions(t *testing.T) {
	t.Parallel()
	outer := t // its clean-up closes the connections, after the drop
	t.Run("test", func(t *testing.T) {
		dsn := servertest.Database(t)
		for dsn, query := range map[string]string{
			dsn:                           "BEGIN; SELECT 1",
			dsn + " replication=database": "CREATE_REPLICATION_SLOT held TEMPORARY LOGICAL pgoutput",
		} {
			conn, err := pgconn.Connect(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			outer.Cleanup(func() { _ = conn.Close(context.Background()) })
			if _, err := conn.Exec(t.Context(), query).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	})
	conn, err := pgconn.Connect(t.Context(), servertest.Server(t).DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	results, err := conn.Exec(t.Context(), "SELECT datname FROM pg_database WHERE datname LIKE 'test%'").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if left := results[0].Rows; len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}
