package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// paid returns a connection to a database with the table of tasks and a table of payments.
func paid(t *testing.T) *pgx.Conn {
	t.Helper()
	conn := furnished(t)
	execute(t, conn, "CREATE TABLE pay (id int, account_id int, note text)")
	return conn
}

// tasks returns columns of all tasks, ordered by id.
func tasks(t *testing.T, conn *pgx.Conn, columns string) string {
	t.Helper()
	return value(t, conn, "SELECT string_agg(concat_ws(' ', "+columns+"), '; ' ORDER BY id) FROM public.task")
}

// TestEachChangeOfARowIsATask: the task runs in the lane that a column of the row names.
func TestEachChangeOfARowIsATask(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	execute(t, conn, `CREATE TRIGGER later AFTER INSERT OR UPDATE OR DELETE ON pay FOR EACH ROW EXECUTE FUNCTION task_async('SELECT pay(task_data())', 'group=100% pay-%s', 'account_id');
		INSERT INTO pay VALUES (1, 7, 'it''s "so"'), (2, NULL, NULL); UPDATE pay SET account_id = 8 WHERE id = 1; DELETE FROM pay WHERE id = 1; UPDATE pay SET id = 3 WHERE false`)
	equal(t, "tasks", tasks(t, conn, `"group", max, state, data`), `100% pay-7 0 PLAN {"op": "INSERT", "table": "public.pay", "old": null, "new": {"id":1,"account_id":7,"note":"it's \"so\""}}; `+
		`100% pay- 0 PLAN {"op": "INSERT", "table": "public.pay", "old": null, "new": {"id":2,"account_id":null,"note":null}}; `+
		`100% pay-8 0 PLAN {"op": "UPDATE", "table": "public.pay", "old": {"id":1,"account_id":7,"note":"it's \"so\""}, "new": {"id":1,"account_id":8,"note":"it's \"so\""}}; `+
		`100% pay-8 0 PLAN {"op": "DELETE", "table": "public.pay", "old": {"id":1,"account_id":8,"note":"it's \"so\""}, "new": null}`)
	equal(t, "input and author", tasks(t, conn, "input, author = current_user"), strings.TrimSuffix(strings.Repeat("SELECT pay(task_data()) t; ", 4), "; "))
}

// TestEachStatementIsATask: its data has all rows, whatever the names.
func TestEachStatementIsATask(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	execute(t, conn, `CREATE TRIGGER "it's" AFTER INSERT ON pay REFERENCING NEW TABLE AS "pg_""class" FOR EACH STATEMENT EXECUTE FUNCTION task_async('1', 'group=all');
		CREATE TRIGGER u AFTER UPDATE ON pay REFERENCING OLD TABLE AS "%I ""old""" NEW TABLE AS t FOR EACH STATEMENT EXECUTE FUNCTION task_async('2', 'priority=3');
		CREATE TRIGGER d AFTER DELETE ON pay REFERENCING OLD TABLE AS r FOR EACH STATEMENT EXECUTE FUNCTION task_async('3');
		INSERT INTO pay (id) VALUES (1), (2); UPDATE pay SET id = id + 10; DELETE FROM pay WHERE id = 11; DELETE FROM pay WHERE false; INSERT INTO pay SELECT 1 WHERE false`)
	equal(t, "tasks", tasks(t, conn, `input, "group", priority, data::jsonb ->> 'op', jsonb_path_query_array(data::jsonb, '$.old[*].id'), jsonb_path_query_array(data::jsonb, '$.new[*].id')`),
		`1 all 0 INSERT [] [1, 2]; 2 group 3 UPDATE [1, 2] [11, 12]; 3 group 0 DELETE [11] []`)
}

// TestATransitionTableMayHaveAnyName, even that of a catalog.
func TestATransitionTableMayHaveAnyName(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	for i, name := range []string{"pg_class", "pg_trigger", "pg_attribute", "pg_type"} {
		execute(t, conn, fmt.Sprintf("CREATE TRIGGER x%d AFTER INSERT ON pay REFERENCING NEW TABLE AS %s FOR EACH STATEMENT EXECUTE FUNCTION task_async('1', 'group=%[2]s', 'until=2030-01-01')", i, name))
	}
	execute(t, conn, "INSERT INTO pay VALUES (1)")
	equal(t, "tasks", tasks(t, conn, `"group", data::json -> 'new' -> 0 ->> 'id'`), "pg_class 1; pg_trigger 1; pg_attribute 1; pg_type 1")
}

// TestATriggerThatCannotBeIsRefused when it first fires, and the error says why.
func TestATriggerThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	for _, c := range []struct{ trigger, want string }{
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async()", "the first argument must be the SQL"},
		{"BEFORE INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1')", "it must be AFTER"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'grupp=a')", `column "grupp" of relation "task" does not exist`},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'Group=a')", `column "Group" of relation "task" does not exist`},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'ctid=(0,1)')", `column "ctid" of relation "task" does not exist`},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group')", "argument 2 is no column=value"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', '=a')", "argument 2 is no column=value"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=a', 'note')", "argument 3 is no column=value"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=%s')", "needs the name of a column"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=%s-%s', 'id')", "needs the name of a column"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=%s', 'nobody')", "needs the name of a column of public.pay as the next argument"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=a', 'group=b')", `column "group" specified more than once`},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'active=soon')", "invalid input syntax for type interval"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'active=-1 s')", "active is out of range"},
		{"AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=%s', 'note')", `group is too long`},
		{"AFTER INSERT ON pay FOR EACH STATEMENT EXECUTE FUNCTION task_async('1')", "needs REFERENCING"},
		{"AFTER INSERT ON pay REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION task_async('1', 'group=%s', 'id')", "and a trigger FOR EACH ROW"},
		{"AFTER TRUNCATE ON pay FOR EACH STATEMENT EXECUTE FUNCTION task_async('1')", "it must be AFTER INSERT"},
	} {
		execute(t, conn, "CREATE TRIGGER x "+c.trigger)
		_, err := conn.Exec(t.Context(), "WITH n AS (SELECT repeat('a', 70000)) INSERT INTO pay SELECT 1, 2, * FROM n", pgx.QueryExecModeSimpleProtocol)
		if strings.Contains(c.trigger, "TRUNCATE") {
			_, err = conn.Exec(t.Context(), "TRUNCATE pay", pgx.QueryExecModeSimpleProtocol)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.trigger, err)
		}
		execute(t, conn, "DROP TRIGGER x ON pay")
	}
	equal(t, "tasks", value(t, conn, "SELECT count(*) FROM task"), "0")
}

// TestATriggerSetsColumns, also columns that the owner has added, with values that need quotes.
func TestATriggerSetsColumns(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	execute(t, conn, `ALTER TABLE task ADD COLUMN "my ""own""" text; CREATE TABLE "odd ""one""" ("a'b ""c""" text, "n" int, "t" int, "r" int);
		CREATE TRIGGER x AFTER INSERT ON "odd ""one""" FOR EACH ROW EXECUTE FUNCTION task_async('1', 'my "own"=%s, %s %', 'a''b "c"', 'n', 'plan=2030-01-01', 'key=k%s', 't', 'null=%s', 'n',
			'settings={"work_mem": "1MB"}', 'max=-5', 'timeout=3 s', 'retry=2');
		INSERT INTO "odd ""one""" VALUES ('''); DROP TABLE task; --', 5, 6), ('\', 7, 6)`)
	equal(t, "tasks", tasks(t, conn, `"my ""own""", plan::date, key, "null", settings, max, timeout, retry, data::jsonb -> 'new' ->> 'n', data::jsonb ->> 'table'`),
		`'); DROP TABLE task; --, 5 % 2030-01-01 k6 5 {"work_mem": "1MB"} -5 00:00:03 2 7 public."odd ""one"""`) // the second met the key of the first
}

// TestATriggerTakesNothingFromTheWriter: no rights, no settings, no objects from the search_path.
func TestATriggerTakesNothingFromTheWriter(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	role := stranger(t, conn, "writer")
	execute(t, conn, `CREATE TRIGGER x AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1');
		CREATE TRIGGER y AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('2', 'until=2030-01-01');
		GRANT INSERT ON pay TO `+role+`; CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO `+role)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	execute(t, conn, `CREATE FUNCTION evil.captured(text, text) RETURNS bool LANGUAGE sql AS 'SELECT 1/0 = 1'; CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.captured);
		CREATE FUNCTION evil.concat(VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT (1/0)::text'; SET search_path = evil, pg_catalog, public; CREATE TEMP TABLE task (id int); CREATE TEMP TABLE pay (id int)`)
	for _, column := range []string{"remote", "max", "repeat", "active", "timeout", "priority", "retry", "group", "null", "quote"} {
		execute(t, conn, "SET pg_task.\""+column+"\" = '5'")
	}
	execute(t, conn, "SET quote_all_identifiers = on; INSERT INTO public.pay VALUES (1)")
	execute(t, conn, "RESET SESSION AUTHORIZATION; RESET quote_all_identifiers")
	execute(t, conn, "SET search_path = public; COMMENT ON FUNCTION public.task_async() IS 'Old (pgtaskd schema 1 0)'")
	install(t, conn, task, nil)
	equal(t, "tasks", tasks(t, conn, `input, coalesce(remote, 'here'), max, repeat, active, timeout, priority, retry, "group", "null", quote = '', author = current_user`),
		`1 here 0 00:00:00 01:00:00 00:00:00 0 0 group \N t t; 2 here 0 00:00:00 01:00:00 00:00:00 0 0 group \N t t`)
}

// TestATriggerKeepsTheTablesDefaults: constants and the owner's expressions, as they are when it
// fires.
func TestATriggerKeepsTheTablesDefaults(t *testing.T) {
	t.Parallel()
	conn := database(t)
	install(t, conn, task, map[string]string{"active": "1 day", "group": "shop"})
	execute(t, conn, `SET pg_task.priority = '7'; CREATE TABLE pay (id int); CREATE TRIGGER x AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1');
		INSERT INTO pay VALUES (1); ALTER TABLE task ALTER COLUMN active SET DEFAULT '2 days', ALTER COLUMN retry SET DEFAULT 3; INSERT INTO pay VALUES (1);
		CREATE SEQUENCE s; ALTER TABLE task ALTER COLUMN count SET DEFAULT nextval('s'); INSERT INTO pay VALUES (1), (2); ALTER TABLE task ALTER COLUMN remote DROP DEFAULT; INSERT INTO pay VALUES (1)`)
	equal(t, "tasks", tasks(t, conn, `active, "group", retry, count, priority`),
		"1 day shop 0 0 0; 2 days shop 3 0 0; 2 days shop 3 1 0; 2 days shop 3 2 0; 2 days shop 3 3 0")
}

// TestWhoAttachesATriggerNeedsTheRight to execute the function.
func TestWhoAttachesATriggerNeedsTheRight(t *testing.T) {
	t.Parallel()
	for way, makes := range makers {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			role := stranger(t, conn, "app")
			makes(t, conn, task)
			execute(t, conn, "CREATE SCHEMA app AUTHORIZATION "+role+"; SET SESSION AUTHORIZATION "+role+"; CREATE TABLE app.pay (id int)")
			const attach = "CREATE TRIGGER x AFTER INSERT ON app.pay FOR EACH ROW EXECUTE FUNCTION task_async('1')"
			refused(t, conn, attach, "42501")
			execute(t, conn, "RESET SESSION AUTHORIZATION; GRANT EXECUTE ON FUNCTION task_async() TO "+role+"; "+
				"DO $$BEGIN EXECUTE format('COMMENT ON FUNCTION task_async() IS %L', regexp_replace(obj_description('task_async()'::regprocedure), ' [0-9a-f]+[)]', ' 0)')); END$$")
			makes(t, conn, task)
			execute(t, conn, "SET SESSION AUTHORIZATION "+role+"; "+attach+"; INSERT INTO app.pay VALUES (1); RESET SESSION AUTHORIZATION")
			equal(t, "task", tasks(t, conn, "author"), value(t, conn, "current_user"))
		})
	}
}

// TestTriggersOnTablesOfAllKinds: partitioned tables, and sessions that replicate.
func TestTriggersOnTablesOfAllKinds(t *testing.T) {
	t.Parallel()
	conn := paid(t)
	execute(t, conn, `CREATE TABLE parts (id int, note text) PARTITION BY RANGE (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
		CREATE TRIGGER x AFTER INSERT ON parts FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=p-%s', 'id'); INSERT INTO parts VALUES (1); INSERT INTO parts_1 VALUES (2);
		CREATE TRIGGER x AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION task_async('1', 'group=%s', 'id'); ALTER TABLE pay ENABLE REPLICA TRIGGER x; INSERT INTO pay VALUES (3);
		SET session_replication_role = replica; INSERT INTO pay VALUES (4); RESET session_replication_role; ALTER TABLE pay ENABLE ALWAYS TRIGGER x; INSERT INTO pay VALUES (5, 0, repeat('é', 500000))`)
	equal(t, "tasks", tasks(t, conn, `"group", data::json ->> 'table'`), "p-1 public.parts; p-2 public.parts; 4 public.pay; 5 public.pay")
	equal(t, "length", value(t, conn, `SELECT length(data::json -> 'new' ->> 'note') FROM task WHERE "group" = '5'`), "500000")
}

// TestTriggersOfOddTables: odd names of the table of tasks, and a table in another schema.
func TestTriggersOfOddTables(t *testing.T) {
	t.Parallel()
	conn := connect(t, servertest.Database(t))
	for _, odd := range []sql.Table{{Schema: `it's $ \ "x"`, Name: `"$body$" \`}, {Schema: "other", Name: "parts"}} {
		execute(t, conn, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{odd.Schema}.Sanitize())
		if odd.Name == "parts" {
			execute(t, conn, "CREATE TABLE other.parts (id bigserial, input text NOT NULL, plan timestamptz NOT NULL) PARTITION BY RANGE (plan); CREATE TABLE other.parts_1 PARTITION OF other.parts DEFAULT")
		}
		install(t, conn, odd, nil)
		execute(t, conn, "DROP TABLE IF EXISTS pay; CREATE TABLE pay (id int); CREATE TRIGGER x AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION "+sql.Beside(odd, "async")+"('1', 'group=%s', 'id')")
		execute(t, conn, "CREATE TRIGGER y AFTER INSERT ON pay FOR EACH ROW EXECUTE FUNCTION "+sql.Beside(odd, "async")+"('1', 'group=y', 'plan=2030-01-01')")
		execute(t, conn, "INSERT INTO pay VALUES (1)")
		equal(t, "tasks of "+odd.Name, value(t, conn, `SELECT string_agg("group", ' ' ORDER BY id) FROM `+odd.String()), "1 y")
	}
}
