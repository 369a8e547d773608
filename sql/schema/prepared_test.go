package schema

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// asPgtaskd runs a statement in a session named like pgtaskd's own.
func asPgtaskd(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	execute(t, conn, "SET application_name = 'pgtaskd public task'; "+sql+"; RESET application_name")
}

// TestAPreparedTaskIsAsGoodAsEnded: STOP leaves the state and is remembered, PLAN changes nothing,
// and other columns of the same UPDATE change. pgtaskd itself may set both.
func TestAPreparedTaskIsAsGoodAsEnded(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	const shown = "SELECT concat_ws(' ', state, xact, stopping, data) FROM task"
	for _, c := range []struct{ set, user, itself string }{
		{"state = 'STOP', data = 'x'", "WORK 7 t x", "STOP 7 x"},
		{"state = 'PLAN', data = 'x'", "WORK 7 x", "PLAN 7 x"},
		{"state = 'WORK', data = 'x'", "WORK 7 x", "WORK 7 x"},
		{"state = 'DONE'", "WORK 7", "DONE 7"},
		{"data = 'x'", "WORK 7 x", "WORK 7 x"},
	} {
		for _, itself := range []bool{false, true} {
			execute(t, conn, "TRUNCATE task; INSERT INTO task (input) VALUES ('')")
			asPgtaskd(t, conn, "UPDATE task SET state = 'WORK', start = now(), xact = 7, xact_at = 'here'")
			do, want := execute, c.user
			if itself {
				do, want = asPgtaskd, c.itself
			}
			do(t, conn, "UPDATE task SET "+c.set)
			equal(t, c.set, value(t, conn, shown), want)
		}
	}
	execute(t, conn, "DELETE FROM task")
	equal(t, "rows", value(t, conn, "SELECT count(*) FROM task"), "0")
}

// TestWhoMayOnlyStopIsNotPgtaskd, whatever the name of the session.
func TestWhoMayOnlyStopIsNotPgtaskd(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	role := stranger(t, conn, "operator")
	execute(t, conn, "INSERT INTO task (input) VALUES (''), (''); GRANT SELECT, UPDATE (state) ON task TO "+role)
	asPgtaskd(t, conn, "UPDATE task SET state = 'WORK', xact = 7 WHERE id = 2")
	execute(t, conn, "SET application_name = 'pgtaskd public task'; SET ROLE "+role)
	for _, state := range []string{"WORK", "TAKE", "DONE", "FAIL", "GONE"} {
		refused(t, conn, "UPDATE task SET state = '"+state+"' WHERE id = 1", "23514")
	}
	execute(t, conn, "UPDATE task SET state = 'STOP'")
	equal(t, "states", value(t, conn, "SELECT string_agg(concat_ws(' ', id, state, stopping), ', ' ORDER BY id) FROM task"), "1 STOP, 2 WORK t")
	refused(t, conn, "UPDATE task SET xact = NULL", "42501")
	execute(t, conn, "RESET ROLE")
}

// TestATaskMayChangeItsOwnRow: pgtaskd's triggers do not refuse it.
func TestATaskMayChangeItsOwnRow(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input) VALUES ('')")
	asPgtaskd(t, conn, "UPDATE task SET state = 'WORK', start = now(), pid = pg_backend_pid()")
	execute(t, conn, "UPDATE task SET data = 'mine', priority = 3; DELETE FROM task")
}

// TestASettingChoosesNoRemote for a role that may not write that column.
func TestASettingChoosesNoRemote(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	role := stranger(t, conn, "clerk")
	execute(t, conn, "ALTER TABLE task ALTER input SET DEFAULT 'SELECT 1'; GRANT INSERT (data), SELECT ON task TO "+role+
		"; GRANT USAGE ON SEQUENCE task_id_seq TO "+role+"; SET ROLE "+role+"; SET pg_task.remote = 'host=elsewhere'")
	refused(t, conn, "INSERT INTO task (data) VALUES ('x')", "23514")
	execute(t, conn, "RESET pg_task.remote; INSERT INTO task (data) VALUES ('x'); RESET ROLE; ALTER TABLE task ALTER remote SET DEFAULT 'host=ours'; SET ROLE "+role+
		"; INSERT INTO task (data) VALUES ('y'); RESET ROLE; GRANT INSERT ON task TO "+role+
		"; ALTER TABLE task ALTER remote SET DEFAULT nullif(current_setting('pg_task.remote', true), ''); SET pg_task.remote = 'host=elsewhere'; SET ROLE "+role+
		"; INSERT INTO task (data) VALUES ('z'); RESET ROLE")
	equal(t, "remotes", value(t, conn, "SELECT string_agg(concat(data, coalesce(remote, '-')), ' ' ORDER BY id) FROM task"), "x- yhost=ours zhost=elsewhere")
}
