package sql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestNothingOfWhoIsGivenTheTypeOfParametersRuns: a constraint of theirs would, as whoever makes a
// value of the type; also when they own it no more, until it is dropped.
func TestNothingOfWhoIsGivenTheTypeOfParametersRuns(t *testing.T) {
	t.Parallel()
	b := newBobs(t, "FOR EACH ROW EXECUTE FUNCTION task_async('SELECT 1', 'key=a-%s', 'a')")
	employ(t, b.owner)
	if err := Entitle(t.Context(), b.owner, task, "postgres"); err != nil {
		t.Fatal(err)
	}
	ending, err := Ends(t.Context(), b.owner, task)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ending.EndsOthers(task)
	statements := []string{
		"SELECT task_why(1)", "SELECT * FROM task_run", "SELECT * FROM task_stat", "SELECT * FROM task_error", "SELECT * FROM task_schedule", end,
		"INSERT INTO task (input, cron) VALUES ('', '0 3 * * *')", "INSERT INTO task (input, after) VALUES ('', '{1}')", "INSERT INTO bob.stock VALUES (1)",
	}
	domain := "public.pgtaskd_call_" + task.hash()
	refuses := func(when string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := b.owner.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err == nil || strings.Contains(err.Error(), "bob checks") {
				t.Errorf("%s: %s: %v", when, statement, err)
			}
		}
	}
	execute(t, b.owner, "INSERT INTO task (input, plan) VALUES ('', 'infinity'); CREATE FUNCTION bob.checks(text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'bob checks as %', current_user; END$$; "+
		"GRANT CREATE ON SCHEMA public TO "+b.role+"; ALTER DOMAIN "+domain+" OWNER TO "+b.role)
	execute(t, b.conn, "ALTER DOMAIN "+domain+" ADD CHECK (bob.checks(VALUE)); GRANT USAGE ON DOMAIN "+domain+" TO PUBLIC")
	refuses("theirs")
	execute(t, b.owner, "ALTER DOMAIN "+domain+" OWNER TO postgres")
	refuses("ours again")
	employ(t, b.owner)
	for _, statement := range statements {
		execute(t, b.owner, statement)
	}
}
