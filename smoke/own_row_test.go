package smoke

import (
	"strings"
	"testing"
)

// TestTaskTouchesItsOwnRow: tasks that change or delete their own rows.
func TestTaskTouchesItsOwnRow(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.exec("CREATE TABLE effect (a text)")
	const mine = " WHERE id = current_setting(''pg_task.id'')::int8"

	for _, update := range []string{"data = ''seen'', priority = 3", "state = ''PLAN''", "state = ''DONE''", "pid = 1", "state = ''STOP''"} {
		row := u.becomes(u.add("input", "'INSERT INTO effect VALUES (1); UPDATE task SET "+update+mine+"'"), "DONE")
		u.shows(row, "attempt", "1", "error", "NULL")
		if strings.HasPrefix(update, "data") {
			u.shows(row, "data", "seen", "priority", "3")
		}
	}
	u.is("(SELECT count(*) FROM effect)", "5")

	// Tasks that delete their own row, in the run's transaction or while they run.
	for _, input := range []string{"DELETE FROM task" + mine, "BEGIN; DELETE FROM task" + mine + "; COMMIT", "BEGIN; DELETE FROM task" + mine + "; COMMIT; SELECT pg_sleep(0.3)"} {
		id := u.add("input", "'"+input+"'")
		u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1 AND state NOT IN ('DONE', 'FAIL'))", id)
	}
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.exec("DELETE FROM task")
	u.add("input", "'BEGIN; TRUNCATE task; COMMIT'")
	u.until("SELECT NOT EXISTS (SELECT FROM task)")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
}

// TestTaskTouchesItsTable: tasks that change their table.
func TestTaskTouchesItsTable(t *testing.T) {
	t.Parallel()
	u := own(t, object{}).user(t)
	u.add("input", "'TRUNCATE task'")
	u.until("SELECT NOT EXISTS (SELECT FROM task WHERE state NOT IN ('DONE', 'FAIL'))")
	u.becomes(u.add("input", "'LOCK TABLE task; SELECT pg_sleep(0.5)'"), "DONE")
	u.becomes(u.add("input", "'ALTER TABLE task ADD COLUMN more int'"), "DONE")
	u.becomes(u.add("input", "'VACUUM FULL task'"), "DONE")
	u.becomes(u.add("input", "'REINDEX TABLE task'"), "DONE")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
}
