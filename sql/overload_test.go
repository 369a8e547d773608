package sql

import (
	"os"
	"testing"
)

// TestNoOverloadIsTakenForOurs: whoever may make functions in the schema is in nobody's way.
func TestNoOverloadIsTakenForOurs(t *testing.T) {
	t.Parallel()
	overload, err := os.ReadFile("testdata/overload.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn := database(t)
	role := stranger(t, conn, "overload")
	install(t, conn, task, nil)
	execute(t, conn, "GRANT CREATE ON SCHEMA public TO "+role+`; CREATE TABLE pay (id int);
		CREATE TRIGGER x AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1');
		CREATE TRIGGER y AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('2', 'until=2030-01-01')`)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	execute(t, conn, string(overload))
	execute(t, conn, "RESET SESSION AUTHORIZATION")
	refused(t, conn, "INSERT INTO task (input, cron) VALUES ('', 'no')", "23514")
	refused(t, conn, "INSERT INTO task (input, after) VALUES ('', '{1000}')", "23514")
	execute(t, conn, `INSERT INTO task (input, cron) VALUES ('', '0 3 * * *'); INSERT INTO task (input, after) VALUES ('', '{1}'); INSERT INTO pay VALUES (1)`)
	equal(t, "tasks", value(t, conn, "SELECT count(*) FROM task"), "4")
	equal(t, "schedule", value(t, conn, "SELECT expression FROM task_schedule"), "0 3 * * *")
	complete(t, conn, task, nil)
}
