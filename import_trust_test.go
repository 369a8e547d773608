package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/moving/timetable"
	"pgtaskd/server/servertest"
)

// TestImportReadsNoStrangersChains: their policies could run any code. A trusted owner is accepted.
func TestImportReadsNoStrangersChains(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	servertest.Exec(t, conn, tablesOfTimetable)
	role := "reader_" + servertest.Get(t, conn, "SELECT current_database()")
	servertest.Exec(t, conn, "CREATE ROLE "+role+"; CREATE ROLE owner_"+role+"; ALTER TABLE timetable.task OWNER TO owner_"+role+"; GRANT USAGE ON SCHEMA timetable TO "+role)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if conn, err := pgx.Connect(ctx, dsn); err == nil {
			_, _ = conn.Exec(ctx, "RESET ROLE; DROP OWNED BY "+role+", owner_"+role+"; DROP ROLE "+role+", owner_"+role, pgx.QueryExecModeSimpleProtocol)
			_ = conn.Close(ctx)
		}
	})
	// A superuser has the rights of all roles, but trusts none of them.
	for _, as := range []string{"", "SET ROLE " + role} {
		servertest.Exec(t, conn, as)
		if _, _, err := timetable.Read(t.Context(), conn, nil); err == nil || !strings.Contains(err.Error(), `table timetable.task belongs to role owner_`+role) {
			t.Errorf("%s: %v", as, err)
		}
	}
	servertest.Exec(t, conn, "RESET ROLE")
	if _, _, err := timetable.Read(t.Context(), conn, []string{"owner_" + role}); err != nil {
		t.Errorf("of an owner who is trusted: %v", err)
	}
	if _, errors, status := imports(t, dsn, "pg_timetable", "--trust", "owner_"+role); status != 0 {
		t.Errorf("with --trust: %s", errors)
	}
}

// TestImportReadsNoChainsOfWhoHasGivenItsRole: a membership that a stranger has granted is no
// reason to trust the owner. A table that is replaced during the wait for its lock is checked
// again.
func TestImportReadsNoChainsOfWhoHasGivenItsRole(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
	servertest.Exec(t, conn, tablesOfTimetable)
	servertest.Exec(t, conn, "INSERT INTO timetable.chain (chain_name, live) VALUES ('a', true); INSERT INTO timetable.task (chain_id, task_order, command) VALUES (1, 1, 'SELECT 1')")
	role := "taker_" + servertest.Get(t, conn, "SELECT current_database()")
	giver, granter := "giver_"+role, "granter_"+role
	servertest.Exec(t, conn, "CREATE ROLE "+role+" LOGIN; CREATE ROLE "+giver+" LOGIN; CREATE ROLE "+granter+" LOGIN; GRANT "+giver+" TO "+granter+` WITH ADMIN OPTION; GRANT USAGE ON SCHEMA timetable TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA timetable TO PUBLIC;
		CREATE FUNCTION evil() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'evil ran'; END $$; ALTER FUNCTION evil() OWNER TO `+giver)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if conn, err := pgx.Connect(ctx, dsn); err == nil {
			_, _ = conn.Exec(ctx, "DROP OWNED BY "+role+", "+giver+", "+granter+" CASCADE; DROP ROLE "+role+", "+granter+", "+giver, pgx.QueryExecModeSimpleProtocol)
			_ = conn.Close(ctx)
		}
	})
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	servertest.Exec(t, conn, "ALTER TABLE timetable.task RENAME TO old; CREATE VIEW timetable.task AS SELECT * FROM timetable.old WHERE evil(); GRANT SELECT ON timetable.old TO "+giver+
		"; GRANT SELECT ON timetable.task TO PUBLIC; ALTER VIEW timetable.task OWNER TO "+giver)
	ended := make(chan string, 1)
	go func() {
		_, errors, _ := imports(t, dsn+" user="+role, "pg_timetable")
		ended <- errors
	}()
	servertest.Wait(t, 20*time.Second, "the import waits for the table", func() bool {
		return servertest.Get(t, other, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = $1 AND wait_event_type = 'Lock'", role) == "1"
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if errors := <-ended; strings.Contains(errors, "evil ran") || !strings.Contains(errors, "there is no table timetable.task") {
		t.Error("while it waits for the table: ", errors)
	}
	servertest.Exec(t, conn, "DROP VIEW timetable.task; ALTER TABLE timetable.old RENAME TO task; ALTER TABLE timetable.task OWNER TO "+giver)
	servertest.Exec(t, servertest.Connect(t, dsn+" user="+giver), "CREATE POLICY p ON timetable.task USING (evil()); ALTER TABLE timetable.task ENABLE ROW LEVEL SECURITY")
	servertest.Exec(t, servertest.Connect(t, dsn+" user="+granter), "GRANT "+giver+" TO "+role)
	if _, errors, _ := imports(t, dsn+" user="+role, "pg_timetable"); !strings.Contains(errors, `table timetable.task belongs to role `+giver) {
		t.Error("as a member: ", errors)
	}
}

// TestImportNamesWhoHasLockedATable: it waits some seconds at most.
func TestImportNamesWhoHasLockedATable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
	servertest.Exec(t, conn, tablesOfTimetable)
	servertest.Exec(t, other, "BEGIN; LOCK TABLE timetable.task")
	_, _, err := timetable.Read(t.Context(), conn, nil)
	if want := fmt.Sprintf("timetable.task is locked by pid %d", other.PgConn().PID()); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
