package sql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// login makes a role that may connect, and nothing else, and returns connections of its.
func login(t *testing.T, dsn, name string) (connectAs func() *pgx.Conn) {
	t.Helper()
	conn := connect(t, dsn)
	role := fmt.Sprintf("%s_%s", name, conn.Config().Database)
	execute(t, conn, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	return func() *pgx.Conn { return connect(t, dsn+" user="+role) }
}

// take is Take, and must not fail.
func (k *Lock) take(t *testing.T, conn *pgx.Conn) bool {
	t.Helper()
	has, err := k.Take(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// numbersOf are those of the first lock of k, as the server's functions take them.
func numbersOf(k *Lock) string { return fmt.Sprintf("%d, %d", int32(k.class), int32(k.first)) }

// TestLockOfTheSchema: who cannot serve the table and holds it is waited for a little, and then
// passed over.
func TestLockOfTheSchema(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	stranger, conn := login(t, dsn, "stranger")(), connect(t, dsn)
	for _, how := range []string{"SELECT pg_advisory_lock_shared(%s)", "BEGIN; SELECT pg_advisory_xact_lock(%s)"} {
		execute(t, conn, "DROP TABLE IF EXISTS task")
		execute(t, stranger, fmt.Sprintf(how, numbersOf(Schema(task))))
		began := time.Now()
		install(t, conn, task, nil)
		if took := time.Since(began); took < lockStrangers {
			t.Errorf("made after %s, beside somebody who may be at work on another table", took)
		}
		equal(t, "locks left", value(t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"), "0")
		execute(t, stranger, "ROLLBACK; SELECT pg_advisory_unlock_all()")
	}
}

// TestInstallWaitsForAnother that is at work in the same schema, under the same role or another
// that can serve the table.
func TestInstallWaitsForAnother(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := connect(t, dsn), login(t, dsn, "other")()
	install(t, conn, task, nil)
	execute(t, conn, "GRANT SELECT, INSERT, UPDATE, DELETE ON task TO PUBLIC; ALTER TABLE task DROP COLUMN priority CASCADE")
	for _, holder := range []*pgx.Conn{connect(t, dsn), other} {
		k := Schema(task)
		if !k.take(t, holder) {
			t.Fatal("nobody else is there")
		}
		ctx, cancel := context.WithTimeout(t.Context(), lockStrangers+time.Second)
		waiting := connect(t, dsn)
		if _, err := Install(ctx, waiting, task, Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("did not wait: %v", err)
		}
		cancel()
		if err := k.Release(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
	}
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
}

// TestLocksAreBelieved of those alone who could serve the table.
func TestLocksAreBelieved(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := connect(t, dsn), login(t, dsn, "other")
	install(t, conn, task, nil)
	execute(t, conn, "CREATE TABLE whole (a int4) PARTITION BY LIST (a); CREATE TABLE half PARTITION OF whole FOR VALUES IN (1) PARTITION BY LIST (a); "+
		"CREATE TABLE part PARTITION OF half FOR VALUES IN (1)")
	whole := Table{"public", "whole"}
	holder, looker := other(), login(t, dsn, "looker")()
	role := "other_" + conn.Config().Database
	for _, c := range []struct {
		grant    string
		lock     *Lock
		believed bool
	}{
		{"", Leadership(task, false), false},
		{"SELECT, INSERT, UPDATE ON task", Leadership(task, false), false},
		{"SELECT, INSERT, UPDATE, DELETE ON task", Leadership(task, false), true},
		{"SELECT, INSERT, UPDATE, DELETE ON task", Leadership(whole, false), false},
		{"SELECT, INSERT, UPDATE, DELETE ON part", Leadership(whole, false), false},
		{"SELECT, INSERT, UPDATE, DELETE ON part", Leadership(whole, true), true},
		{"SELECT, INSERT, UPDATE, DELETE ON half", Leadership(whole, true), true},
		{"SELECT, INSERT, UPDATE, DELETE ON whole", Leadership(whole, false), true},
		{"SELECT, INSERT, UPDATE, DELETE ON task", Leadership(Table{"public", "none"}, false), false},
	} {
		execute(t, conn, "DROP OWNED BY "+role)
		if c.grant != "" {
			execute(t, conn, "GRANT "+c.grant+" TO "+role)
		}
		if !c.lock.take(t, holder) {
			t.Fatal("nobody else is there")
		}
		seen := *c.lock
		seen.shared, seen.held = false, false
		if has := seen.take(t, looker); has == c.believed {
			t.Errorf("with %q: has it: %t, rival %v, strangers %v", c.grant, has, seen.Rival, seen.Strangers)
		}
		if err := errors.Join(c.lock.Release(t.Context(), holder), seen.Release(t.Context(), looker)); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []*Lock{Leadership(task, false), Schema(task), Sleep(task, described(t, conn, task).Waking)} {
		execute(t, conn, "SELECT pg_advisory_unlock_all()")
		if k.numbers == 2 {
			k.take(t, conn) // a superuser
		} else {
			execute(t, conn, fmt.Sprint("SELECT pg_advisory_lock_shared(", described(t, conn, task).Waking.Lock, ")"))
		}
		seen := *k
		if err := seen.Look(t.Context(), looker); err != nil || seen.Rival == nil {
			t.Errorf("%s of a superuser: %v, %v", k.What(), seen.Rival, err)
		}
	}
}

// TestAMembershipThatGivesNothingHoldsNoLead, where tasks run under the roles that insert them:
// since 16 one may give neither the rights of the role that serves nor let anybody become it.
func TestAMembershipThatGivesNothingHoldsNoLead(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder, looker := connect(t, dsn), login(t, dsn, "mal")(), login(t, dsn, "worker")()
	database := conn.Config().Database
	execute(t, conn, `CREATE TABLE task (id bigserial PRIMARY KEY); CREATE FUNCTION sets() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER pgtaskd_role BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION sets()`)
	believed := map[string]bool{"": true}
	if serverVersion(conn) >= 160000 {
		believed = map[string]bool{
			"": true, " WITH INHERIT TRUE, SET FALSE": true, " WITH INHERIT FALSE, SET TRUE": true, " WITH INHERIT FALSE, SET FALSE": false,
		}
	}
	k := Leadership(task, false)
	if !k.take(t, holder) {
		t.Fatal("nobody else is there")
	}
	for with, is := range believed {
		execute(t, conn, fmt.Sprintf("GRANT worker_%s TO mal_%[1]s%s", database, with))
		seen := *k
		if err := seen.Look(t.Context(), looker); err != nil || (seen.Rival != nil) != is {
			t.Errorf("of a member%s: %v, %v", with, seen.Rival, err)
		}
		execute(t, conn, fmt.Sprintf("REVOKE worker_%s FROM mal_%[1]s", database))
	}
}

// serverVersion is the major one, times 10000.
func serverVersion(conn *pgx.Conn) int {
	major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	version, _ := strconv.Atoi(major)
	return version * 10000
}
