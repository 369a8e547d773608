package sql

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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

// TestOverloadsOfOthersAreNoObjectsBeside: however many others make, and how often, nothing is looked
// at again for that; some are named; and ours are made again all the same, by pgtaskd and the script.
func TestOverloadsOfOthersAreNoObjectsBeside(t *testing.T) {
	t.Parallel()
	conn := database(t)
	role := stranger(t, conn, "overloads")
	install(t, conn, task, nil)
	execute(t, conn, "GRANT CREATE ON SCHEMA public TO "+role)
	d, err := Describe(t.Context(), conn, task)
	if err != nil {
		t.Fatal(err)
	}
	columns := func() (digest string) {
		t.Helper()
		var rest any
		if err := conn.QueryRow(t.Context(), d.Queries(task).Text("columns"), task.Schema, task.Name).Scan(&digest, &rest, &rest, &rest); err != nil {
			t.Fatal(err)
		}
		return digest
	}
	before := columns()
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	execute(t, conn, `DO $$DECLARE name text; BEGIN
			FOREACH name IN ARRAY ARRAY['task_async', 'task_why', 'task_data', 'task_run', 'pgtaskd_cron_`+task.hash()+`'] LOOP
				FOR n IN 1..40 LOOP
					EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS int LANGUAGE sql AS $f$SELECT 1$f$', name, rtrim(repeat('text,', n), ','));
				END LOOP;
			END LOOP;
		END$$`)
	execute(t, conn, "RESET SESSION AUTHORIZATION")
	if after := columns(); after != before {
		t.Errorf("%s was %s", after, before)
	}
	described, err := Describe(t.Context(), conn, task)
	if said := strings.Join(described.Without, "\n"); err != nil || strings.Contains(said, "goes without") ||
		strings.Count(said, "may be taken for calls of a function of role "+role+": DROP FUNCTION \"public\".task_") != 5 || described.Besides != d.Besides {
		t.Errorf("%v: %s", err, said)
	}
	old := func(how string, remake func() error) {
		t.Helper()
		execute(t, conn, "COMMENT ON FUNCTION task_async() IS '(pgtaskd schema 1 old)'; COMMENT ON FUNCTION task_why(int8) IS '(pgtaskd schema 1 old)'")
		if err := remake(); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if n := value(t, conn, "SELECT count(*) FROM pg_proc WHERE obj_description(oid) LIKE '%schema 1 old%'"); fmt.Sprint(n) != "0" {
			t.Errorf("%s: %v are old", how, n)
		}
	}
	old("pgtaskd", func() error { _, err := Install(t.Context(), conn, task, Options{}); return err })
	old("the script", func() error {
		_, err := conn.Exec(t.Context(), DDL(task, Options{}), pgx.QueryExecModeSimpleProtocol)
		return err
	})
}
