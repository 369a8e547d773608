package schema

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

var task = sql.Table{Schema: "public", Name: "task"}

func TestInstallMakesTheTableOnce(t *testing.T) {
	t.Parallel()
	conn := database(t)
	if changes := install(t, conn, task, nil); len(changes) == 0 {
		t.Error("nothing was made")
	}
	complete(t, conn, task, nil)
	execute(t, conn, `INSERT INTO task (input) VALUES ('SELECT 1')`)
	if changes := install(t, conn, task, nil); len(changes) != 0 {
		t.Errorf("made a second time: %v", changes)
	}
}

func TestInstallTwiceAtOnce(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	tables := []sql.Table{{Schema: "jobs", Name: "task"}, {Schema: "jobs", Name: "task"}, {Schema: "jobs", Name: "other"}, {Schema: "jobs", Name: "other"}}
	errs := make([]error, len(tables))
	var group sync.WaitGroup
	for i, table := range tables {
		conn := connect(t, dsn)
		group.Go(func() { _, errs[i] = Install(t.Context(), conn, table, Options{}) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	for _, table := range tables {
		complete(t, conn, table, nil)
	}
}

func TestDDLCanBeRunByHandAgainAndAgain(t *testing.T) {
	t.Parallel()
	conn := database(t)
	table := named("a schema", `$pgtaskd$"; DROP`)
	defaults := map[string]string{"active": "1 day", "null": `\N'`}
	script(t, conn, table, Options{Defaults: defaults})
	complete(t, conn, table, defaults)
	script(t, conn, table, Options{Defaults: defaults})
	complete(t, conn, table, defaults)
}

func TestNamesOfAnyKind(t *testing.T) {
	t.Parallel()
	conn := database(t)
	for i, name := range []string{
		`a"b`, "a b", "a;b", "$pgtaskd$", "$a$", "$1", ":table", "a'b", "User", "select", `a\b`, "таблица", strings.Repeat("x", 63),
	} {
		if !servertest.Thorough && i%4 != 0 {
			continue
		}
		table := named(name, name)
		install(t, conn, table, map[string]string{"data": name})
		complete(t, conn, table, map[string]string{"data": name})
		execute(t, conn, "LISTEN "+pgx.Identifier{sql.Channel(table)}.Sanitize())
		execute(t, conn, "INSERT INTO "+table.String()+" (input) VALUES ('')")
		execute(t, conn, "UPDATE "+table.String()+" SET max = 1")
		notified(t, conn, sql.Channel(table))
		equal(t, "data", value(t, conn, "SELECT data FROM "+table.String()), name)
		execute(t, conn, "INSERT INTO "+table.String()+" (input, state, next) VALUES ('', 'DONE', 1)")
		execute(t, conn, "UPDATE "+table.String()+" SET state = 'STOP' WHERE id = 2")
		notified(t, conn, sql.Channel(table))
		equal(t, "states", value(t, conn, "SELECT string_agg(state::text, ' ' ORDER BY id) FROM "+table.String()), "STOP DONE")
	}
	for _, table := range []sql.Table{{Schema: "", Name: "task"}, {Schema: "public", Name: ""}, {Schema: "public", Name: strings.Repeat("x", 64)}} {
		if _, err := Install(t.Context(), conn, table, Options{}); err == nil {
			t.Errorf("%s was made", table)
		}
	}
}

func TestRoleWithoutRightsServesACompleteTable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner := connect(t, dsn)
	install(t, owner, task, map[string]string{"max": "3"})
	role := "dml_" + value(t, owner, "current_database()")
	execute(t, owner, "CREATE ROLE "+role+" LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON task TO "+role+
		"; GRANT USAGE ON SEQUENCE task_id_seq TO "+role)
	t.Cleanup(func() {
		ctx := context.Background()
		if _, err := owner.Exec(ctx, "DROP OWNED BY "+role+"; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, dsn)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	complete(t, conn, task, map[string]string{"max": "3"})
	if changes := install(t, conn, task, map[string]string{"max": "3"}); len(changes) != 0 {
		t.Errorf("made: %v", changes)
	}
	execute(t, conn, "INSERT INTO task (input) VALUES ('SELECT 1')")

	_, err := Install(t.Context(), conn, task, Options{Defaults: map[string]string{"max": "4"}})
	if !isState(err, "42501") || !strings.Contains(err.Error(), "needs ownership: ERROR: must be owner of table task") {
		t.Errorf("a default that must be set: %v", err)
	}
	_, err = Install(t.Context(), conn, named("elsewhere", "task"), Options{})
	if !isState(err, "42501") || !strings.Contains(err.Error(), "needs CREATE on the database") {
		t.Errorf("a schema that must be made: %v", err)
	}
}

func TestInstallSaysWhoHoldsTheTable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	holder, conn := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	execute(t, conn, "ALTER TABLE task DROP COLUMN priority CASCADE")
	execute(t, holder, "SET application_name = 'the holder'; BEGIN; LOCK TABLE task IN ACCESS SHARE MODE")
	_, err := Install(t.Context(), conn, task, Options{})
	if !isState(err, "55P03") || !strings.Contains(err.Error(), "the holder") {
		t.Errorf("got %v", err)
	}
	execute(t, holder, "COMMIT")
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
}

// TestInstallWaitsLittleForWhatIsOptional: INSERTs would queue after it.
func TestInstallWaitsLittleForWhatIsOptional(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	holder, conn := connect(t, dsn), connect(t, dsn)
	if _, err := Install(t.Context(), conn, task, Options{Wake: sql.Poll}); err != nil {
		t.Fatal(err)
	}
	execute(t, holder, "BEGIN; LOCK TABLE task IN ROW EXCLUSIVE MODE")
	began := time.Now()
	_, err := Install(t.Context(), conn, task, Options{})
	// Necessary changes wait for 2 s.
	if took := time.Since(began); !isState(err, "55P03") || took > 1800*time.Millisecond {
		t.Errorf("after %s: %v", took, err)
	}
}

// notified waits for one notification and checks its channel.
func notified(t *testing.T, conn *pgx.Conn, channel string) {
	t.Helper()
	n, err := conn.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "channel", n.Channel, channel)
}

// unnotified fails the test if there was a notification before now.
func unnotified(t *testing.T, conn *pgx.Conn, after string) {
	t.Helper()
	execute(t, conn, "NOTIFY nothing_else")
	n, err := conn.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, after, n.Channel, "nothing_else")
}

// TestInstallWaitsForAnother that works in the same schema.
func TestInstallWaitsForAnother(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	k := lock.Schema(task.Schema, false)
	if has, err := k.Take(t.Context(), holder); err != nil || !has {
		t.Fatal(has, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	waiting := connect(t, dsn)
	if _, err := Install(ctx, waiting, task, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("did not wait: %v", err)
	}
	execute(t, holder, "SELECT pg_advisory_unlock_all()")
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
}

// TestTablesOfASchemaAreMadeAtOnce: only what they share is made alone.
func TestTablesOfASchemaAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	if has, err := lock.Schema(task.Schema, true).Take(t.Context(), holder); err != nil || !has { // another table is being made
		t.Fatal(has, err)
	}
	install(t, conn, sql.Table{Schema: task.Schema, Name: "another"}, nil)
	execute(t, conn, "DROP FUNCTION pgtaskd_accept() CASCADE")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	waiting := connect(t, dsn)
	if _, err := Install(ctx, waiting, task, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what tables share is not made alone: %v", err)
	}
}
