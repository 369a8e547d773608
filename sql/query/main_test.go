package query

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var task = sql.Table{Schema: "public", Name: "task"}

func described(t *testing.T, conn *pgx.Conn) schema.Description {
	t.Helper()
	d, err := schema.Describe(t.Context(), conn, task)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// waiting returns as soon as the other session waits for a lock.
func waiting(t *testing.T, conn, other *pgx.Conn) {
	t.Helper()
	pid := int32(other.PgConn().PID())
	servertest.Wait(t, time.Minute, "a wait for a lock", func() bool {
		return servertest.Get(t, conn, "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", pid) == "true"
	})
}
