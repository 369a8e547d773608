package smoke

import (
	"testing"
)

// TestCreatesRoleAndDatabase: the program makes a missing role and a missing database.
func TestCreatesRoleAndDatabase(t *testing.T) {
	t.Parallel()
	path := configure(t, "made by pgtaskd", object{"user": "made by pgtaskd"})
	p := run(t, "run", "--config", path)
	p.says(t, `"leading"`, 1)
	u := connect(t, postgres.DSN("made by pgtaskd"))
	u.shows(u.becomes(u.add("input", "'SELECT session_user, current_user, current_setting(''is_superuser'')'"), "DONE"),
		"output", "session_user\tcurrent_user\tcurrent_setting\nmade by pgtaskd\tmade by pgtaskd\toff")
	u.is("(SELECT datdba::regrole FROM pg_database WHERE datname = current_database())", "postgres")
}

// TestLowRole: a role that is no superuser, and cannot become one.
func TestLowRole(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	admin := connect(t, postgres.DSN(database))
	admin.exec("CREATE ROLE low LOGIN; CREATE SCHEMA low AUTHORIZATION low")
	s := serve(t, database, object{"user": "low", "schema": "low"})
	u := s.user(t)
	u.table = "low.task"
	u.becomes(u.add("input", "'SELECT pg_read_file(''/etc/passwd'')'"), "FAIL")
	u.becomes(u.add("input", "'SET SESSION AUTHORIZATION postgres'"), "FAIL")
	u.shows(u.becomes(u.add("input", "'RESET SESSION AUTHORIZATION; RESET ROLE; SELECT current_user'"), "DONE"), "output", "RESET\nRESET\nlow")
	id := u.add("input, repeat", "'SELECT pg_sleep(30)', '1 day'")
	u.becomes(id, "WORK")
	u.exec("UPDATE low.task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM low.task WHERE id = $1", id)
	u.shows(u.task(u.add("input, plan", "'', 'infinity'")), "author", "postgres")
}

// TestRoleWithFewRights: a role that may only use the table.
func TestRoleWithFewRights(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	u := connect(t, postgres.DSN(database))
	u.exec(printed(t))
	u.exec("CREATE ROLE few LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON task TO few; GRANT USAGE ON SEQUENCE task_id_seq TO few")
	serve(t, database, object{"user": "few"})
	u.shows(u.becomes(u.add("input, repeat", "'SELECT current_user', '1 day'"), "DONE"), "output", "few")
	u.becomes(u.add("input, plan", "'SELECT 1', now() - interval '2 hours'"), "GONE")
	u.becomes(u.add("input", "'SELECT 1/0'"), "FAIL")
	u.becomes(u.add("input", "'VACUUM'"), "DONE")
	id := u.add("input", "'SELECT pg_sleep(30)'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	id = u.add("input", "''")
	u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1)", id)
}

// TestRowSecurity: with row-level security the controller serves the rows that its role sees.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	u := connect(t, postgres.DSN(database))
	u.exec(printed(t))
	u.exec(`CREATE ROLE guarded LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON task TO guarded; GRANT USAGE ON SEQUENCE task_id_seq TO guarded;
		ALTER TABLE task ENABLE ROW LEVEL SECURITY;
		CREATE POLICY all_but_hidden ON task TO guarded USING (data IS DISTINCT FROM 'hidden') WITH CHECK (data IS DISTINCT FROM 'no end' OR state <> 'DONE')`)
	serve(t, database, object{"user": "guarded"})
	hidden := u.add("data, input", "'hidden', 'SELECT 1'")
	refused := u.add("data, input", "'no end', 'SELECT 1'")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.becomes(u.add("input", "'SET row_security TO off; SELECT 1'"), "DONE")
	u.becomes(refused, "WORK") // DONE is refused, and no other end is written
	u.shows(u.task(hidden), "state", "PLAN")
}
