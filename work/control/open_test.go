package control

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

// TestAFormerControlSessionDoesNotKeepTheLead: a session whose statement obeys no cancel would hold
// the leader's lock, so the next session ends it.
func TestAFormerControlSessionDoesNotKeepTheLead(t *testing.T) {
	t.Parallel()
	served, conn := databaseOf(t)
	former, now := New(served, nil), New(served, nil)
	if err := former.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	pid := former.Facts().PID
	stuck := make(chan error, 1)
	go func() {
		_, err := former.conn.Exec(context.WithoutCancel(t.Context()), "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$")
		stuck <- err
	}()
	servertest.Wait(t, 25*time.Second, "the statement", func() bool {
		return servertest.Get(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", pid) == "1"
	})
	servertest.Exec(t, conn, "SELECT pg_cancel_backend($1)", pid)
	// An earlier backend had the same process id.
	now.Learn(&Facts{PID: pid, Since: former.Facts().Since.Add(-time.Microsecond)})
	if err := now.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if servertest.Get(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) != "1" {
		t.Error("another session was ended")
	}
	now.Close()
	now.Learn(former.Facts())
	if err := now.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if err := <-stuck; err == nil {
		t.Error("it has obeyed after all")
	}
	former.Close()
}

// databaseOf returns a target in a database of the test's own, and a connection to it.
func databaseOf(t *testing.T) (target.Target, *pgx.Conn) {
	t.Helper()
	dsn := servertest.Database(t)
	settings, err := remote.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return target.Target{Connect: settings, Admin: settings, Schema: "public", Table: "task"}, servertest.Connect(t, dsn)
}

// TestAPingIsNoTransaction: a database may sleep. But it ends the silence of the session.
func TestAPingIsNoTransaction(t *testing.T) {
	t.Parallel()
	served, conn := databaseOf(t)
	c := New(served, nil)
	if err := c.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	const limit, pings = 500 * time.Millisecond, 50
	if major.ClientCheck.In(c.Facts().Version) {
		servertest.Exec(t, c.conn, "SET idle_session_timeout = '"+limit.String()+"'")
	}
	for range pings {
		time.Sleep(2 * limit / pings)
		if err := c.Ping(t.Context()); err != nil {
			t.Fatal("the session was silent: ", err)
		}
	}
	c.Close() // now the server counts its transactions
	servertest.Wait(t, 25*time.Second, "the end", func() bool {
		return servertest.Get(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", c.Facts().PID) == "0"
	})
	n, err := strconv.Atoi(servertest.Get(t, conn, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"))
	if err != nil || n >= pings {
		t.Error("so many transactions: ", n, err)
	}
}
