package sql

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestNothingOfOthersIsCalled: somebody who may create in a schema of an administrator's path makes
// operators, functions and types that fit better than those of pg_catalog, or come before them.
func TestNothingOfOthersIsCalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, path string }{
		{"before pg_catalog", "evil", "evil, public, pg_catalog"},
		{"in the schema of the table", "public", "public"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dsn := servertest.Database(t)
			conn := connect(t, dsn)
			install(t, conn, task, nil)
			execute(t, conn, "CREATE TABLE parts (id bigserial, input text NOT NULL) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF parts DEFAULT")
			install(t, conn, Table{"public", "parts"}, nil)
			for _, table := range []Table{task, {"public", "parts"}} { // with what they have where tasks run under other roles
				if _, err := Install(t.Context(), conn, table, Options{Inserter: true, Serving: "postgres"}); err != nil {
					t.Fatal(err)
				}
				if err := Entitle(t.Context(), conn, table, "postgres"); err != nil {
					t.Fatal(err)
				}
			}
			execute(t, conn, `CREATE TABLE changed (id int, note text); CREATE TRIGGER a AFTER INSERT OR UPDATE OR DELETE ON changed FOR EACH ROW EXECUTE FUNCTION task_async('', 'group=%s', 'note');
				CREATE TRIGGER b AFTER INSERT ON changed FOR EACH ROW EXECUTE FUNCTION task_async('', 'key=%s', 'id');
				CREATE TRIGGER c AFTER UPDATE ON changed REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION task_async('')`)
			trap(t, conn, dsn, c.schema)
			conn = connect(t, dsn)
			execute(t, conn, "SET search_path = "+c.path)
			trapped(t, conn, c.schema)
			tasksAreChanged(t, conn)
			statementsAreRead(t, conn)
		})
	}
}

// trap puts what captures careless statements into the schema, as a role that may do no more than
// create there.
func trap(t *testing.T, owner *pgx.Conn, dsn, schema string) {
	t.Helper()
	role := "evil_" + value(t, owner, "current_database()")
	execute(t, owner, "CREATE ROLE "+role+"; CREATE SCHEMA evil; GRANT CREATE, USAGE ON SCHEMA evil, public TO "+role)
	t.Cleanup(func() {
		if _, err := owner.Exec(context.Background(), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	script, err := os.ReadFile("testdata/captured.sql")
	if err != nil {
		t.Fatal(err)
	}
	operators, functions := used(t)
	attacker := connect(t, dsn)
	execute(t, attacker, fmt.Sprintf("SET SESSION AUTHORIZATION %s; SET capture.schema = '%s'; SET capture.state = 'public.state'; SET capture.operators = '%s'; SET capture.functions = '%s'",
		role, schema, strings.Join(operators, " "), strings.Join(functions, " ")))
	execute(t, attacker, string(script))
	execute(t, attacker, "RESET SESSION AUTHORIZATION")
}

// used are the names of the operators and functions that ours use.
func used(t *testing.T) (operators, functions []string) {
	t.Helper()
	some, others := map[string]bool{}, map[string]bool{}
	for _, text := range append(slices.Collect(maps.Values(embedded(t))), goSQL(t)...) {
		tokens := lex(text, 1)
		for _, body := range tokens {
			if body.kind == bodyToken {
				tokens = append(tokens, lex(strings.ReplaceAll(body.text, "'", " "), 1)...)
			}
		}
		for i := 2; i < len(tokens); i++ {
			switch {
			case tokens[i-1].text != "." || tokens[i-2].text != "pg_catalog":
			case tokens[i].kind == operatorToken:
				some[tokens[i].text] = true
			case i+1 < len(tokens) && tokens[i+1].text == "(":
				others[tokens[i].text] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(some)), slices.Sorted(maps.Keys(others))
}

func goSQL(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, folder := range goFolders {
		for _, text := range goTexts(t, folder) {
			texts = append(texts, text.sql)
		}
	}
	return texts
}

// trapped is the control: what is not qualified is captured.
func trapped(t *testing.T, conn *pgx.Conn, schema string) {
	t.Helper()
	for _, sql := range []string{
		"SELECT pg_catalog.statement_timestamp() + '2 min'", "SELECT state = 'PLAN' FROM public.task",
		"SELECT nullif(1::pg_catalog.int8, '1'::pg_catalog.name)", "SELECT pg_catalog.date_part('year', pg_catalog.now()) > 0", "SELECT relname LIKE 'a' FROM pg_catalog.pg_class",
	} {
		execute(t, conn, "INSERT INTO public.task (id, input) VALUES (0, '')")
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("%s is not captured", sql)
		}
		execute(t, conn, "DELETE FROM public.task")
	}
	if schema == "evil" { // which comes first
		for _, sql := range []string{"SELECT '1'::int8", "SELECT 1 = 1", "SELECT left('a', 1)", "SELECT clock_timestamp()", "SELECT 1 = ANY (ARRAY[1::pg_catalog.int8])", "SELECT count(*) FROM pg_catalog.pg_class"} {
			if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err == nil {
				t.Errorf("%s is not captured", sql)
			}
		}
	}
}

// tasksAreChanged does what has triggers, defaults and generated columns evaluated.
func tasksAreChanged(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	execute(t, conn, "INSERT INTO public.changed VALUES (1, 'a'), (2, 'b'); UPDATE public.changed SET note = NULL; DELETE FROM public.changed")
	for _, table := range []string{"public.task", "public.parts"} {
		for _, sql := range []string{
			"(input) VALUES ('')",
			"(input, active, live, repeat, timeout, backoff, max, count, retry) VALUES ('', '2 days', '1 min', '1 mon', '1 s', '2 min', -1, 2, 3)",
			"(input, plan, until) VALUES ('', 'infinity', '2100-01-01')",
			"(input, remote, \"group\") VALUES ('', 'dbname=x', 'a')",
			"(id, input, state, next, stop, runs) VALUES (101, '', 'DONE', 102, '2020-01-01', '[]'), (102, '', 'GONE', 103, '2020-01-01', NULL), (103, '', 'PLAN', NULL, NULL, NULL)",
		} {
			execute(t, conn, "INSERT INTO "+table+" "+sql)
		}
		servertest.Replicate(t, conn, "INSERT INTO "+table+" (id, input, state, start, pid) VALUES (104, '', 'WORK', '2020-01-01', 1), (105, '', 'TAKE', NULL, 1), (106, '', 'WORK', '2020-01-01', 1)")
		if table == "public.parts" && serverVersion(conn) < 130000 {
			break // no BEFORE trigger on a partitioned table there, which would refuse what follows
		}
		for _, column := range []string{"active", "live", "repeat", "timeout", "backoff"} {
			refused(t, conn, "INSERT INTO "+table+" (input, "+column+") VALUES ('', '-1 day')", "23514")
		}
		refused(t, conn, "INSERT INTO "+table+" (input, repeat, cron) VALUES ('', '1 day', '* * * * *')", "23514")
		refused(t, conn, "INSERT INTO "+table+" (input, plan) VALUES ('', '-infinity')", "23514")
		refused(t, conn, "INSERT INTO "+table+" (input, state) VALUES ('', 'WORK')", "23514")
		execute(t, conn, "UPDATE "+table+" SET state = 'STOP'")
		execute(t, conn, "UPDATE "+table+" SET state = 'STOP'")
		execute(t, conn, "UPDATE "+table+" SET state = 'PLAN'")
		execute(t, conn, "UPDATE "+table+` SET plan = '2030-01-01', "group" = 'b', max = 1`)
		execute(t, conn, "SET application_name = 'pgtaskd public task'; UPDATE "+table+" SET state = 'WORK'; RESET application_name")
		execute(t, conn, "DELETE FROM "+table)
	}
}

// statementsAreRead has the server say what our statements depend on.
func statementsAreRead(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	d := described(t, conn, task)
	var texts []string
	for _, inserter := range []bool{false, true} {
		d.Inserter = inserter
		q := d.Queries(task)
		for name := range q.files {
			texts = append(texts, q.Text(name))
		}
	}
	for path, text := range embedded(t) {
		if strings.HasPrefix(path, "schema/inspect/") {
			texts = append(texts, text)
		}
	}
	texts = append(texts, slices.DeleteFunc(goSQL(t), func(text string) bool {
		return !strings.HasPrefix(text, "SELECT ") || strings.Contains(text, ":go") || strings.Contains(text, "%s") || strings.Contains(text, "%d")
	})...)
	if len(texts) < 55 {
		t.Errorf("there are %d statements", len(texts))
	}
	for _, text := range texts {
		text = strings.TrimRight(uncommented(text), "; \n")
		if means := dependencies(t, conn, text); means != "" {
			t.Errorf("%s\nmeans %s", text, means)
		}
	}
	means := dependencies(t, conn, "SELECT $1::pg_catalog.timestamptz + $2") // the control
	if serverVersion(conn) >= 140000 && means == "" {
		t.Error("the dependencies of a statement are not seen")
	}
}

// dependencies are what a statement means that is no part of the system or of a table of ours, as
// far as the server can tell.
func dependencies(t *testing.T, conn *pgx.Conn, text string) (means string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	must := func(sql string) {
		t.Helper()
		if err := run(t.Context(), tx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	scan := func(sql string, into *string) {
		t.Helper()
		if err := tx.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(into); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	must("PREPARE reads AS " + text + "\n")
	var types string
	scan("SELECT pg_catalog.array_to_string(p.parameter_types, ', ') FROM pg_catalog.pg_prepared_statement() AS p WHERE p.name OPERATOR(pg_catalog.=) 'reads'", &types)
	must("SET LOCAL plan_cache_mode = force_generic_plan; EXPLAIN EXECUTE reads" + nulls(types) + "; DEALLOCATE reads")
	if serverVersion(conn) < 140000 {
		return "" // there a function's body is not read before it runs
	}
	must("CREATE FUNCTION public.reads(" + types + ") RETURNS pg_catalog.void LANGUAGE sql BEGIN ATOMIC " + text + "\n; END")
	must("SET LOCAL search_path = pg_catalog, pg_temp")
	scan(`SELECT coalesce(string_agg(pg_describe_object(refclassid, refobjid, 0), ', '), '') FROM pg_depend JOIN pg_proc AS p ON p.oid = objid
		WHERE p.pronamespace = 'public'::regnamespace AND p.proname = 'reads' AND classid = 'pg_proc'::regclass
		AND refclassid IN ('pg_operator'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass) AND refobjid NOT IN ('public.state'::regtype, 'public.state[]'::regtype)`, &means)
	return means
}

// nulls are as many parameters as types, if there are any.
func nulls(types string) string {
	if types == "" {
		return ""
	}
	return "(NULL" + strings.Repeat(", NULL", strings.Count(types, ", ")) + ")"
}

// serverVersion is the major one, times 10000.
func serverVersion(conn *pgx.Conn) int {
	major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	version, _ := strconv.Atoi(major)
	return version * 10000
}
