package sql

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestPsqlMakesNothingAfterARefusal: with ON_ERROR_ROLLBACK psql goes on after an error, in the same
// transaction, as if the statement had not been there.
func TestPsqlMakesNothingAfterARefusal(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	i := 1000 // which no other test has
	for _, premade := range []string{
		"CREATE FUNCTION $s.pgtaskd_wake_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE TABLE $s.task (id bigserial PRIMARY KEY, input text NOT NULL)",
		"", // nothing is refused
	} {
		for _, setting := range []string{"ON_ERROR_ROLLBACK=off", "ON_ERROR_ROLLBACK=on", "ON_ERROR_ROLLBACK=interactive"} {
			for _, stop := range []string{"ON_ERROR_STOP=0", "ON_ERROR_STOP=1"} {
				i++
				owners := newOwners(t, dsn, "superuser", i)
				owners.admin("SET ROLE $m; " + premade + "; RESET ROLE")
				const made = `SELECT concat_ws(' ', (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid), (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid),
					(SELECT count(*) FROM pg_type WHERE typnamespace = n.oid), (SELECT count(*) FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = attrelid WHERE relnamespace = n.oid))
					FROM pg_namespace AS n WHERE nspname = $1`
				before := servertest.Get(t, owners.super, made, owners.schema)
				out := psql(t, dsn, DDL(owners.table(), Options{Inserter: true, Serving: owners.worker, Role: owners.worker, Defaults: map[string]string{"group": "$guarded$"}}), setting, stop)
				switch after := servertest.Get(t, owners.super, made, owners.schema); {
				case premade == "":
					if out != "" || servertest.Get(t, owners.super, `SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
						WHERE attname = 'group' AND adrelid = to_regclass($1)`, pgx.Identifier{owners.schema, "task"}.Sanitize()) != "'$guarded$'::text" {
						t.Errorf("%s, %s: %s", setting, stop, out)
					}
				case after != before:
					t.Errorf("%s, %s, %s: there was %s, and is %s\n%s", premade, setting, stop, before, after, out)
				case !strings.Contains(out, "belongs to role "+owners.mallory):
					t.Errorf("%s, %s, %s: %s", premade, setting, stop, out)
				}
			}
		}
	}
}

// TestTheScriptNeedsNoMoreThanASchema: whoever may create in a schema that is there need not be able
// to create schemas.
func TestTheScriptNeedsNoMoreThanASchema(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	maker := "maker_" + servertest.Get(t, conn, "SELECT pg_backend_pid()")
	const schema = `an "odd" $pgtaskd$ 'one'`
	name := pgx.Identifier{schema}.Sanitize()
	servertest.Exec(t, conn, "CREATE ROLE "+maker+" LOGIN; CREATE SCHEMA "+name+"; GRANT CREATE, USAGE ON SCHEMA "+name+" TO "+maker)
	t.Cleanup(func() {
		if _, err := conn.PgConn().Exec(context.Background(), "DROP OWNED BY "+maker+"; DROP ROLE "+maker).ReadAll(); err != nil {
			t.Error(err)
		}
	})
	for _, where := range []string{schema, "anew"} {
		out := psql(t, dsn+" user="+maker, DDL(Table{Schema: where, Name: "task"}, Options{}), "ON_ERROR_STOP=1")
		if made := where == schema; made != (out == "") || !made && !strings.Contains(out, "permission denied for database") {
			t.Errorf("%s: %s", where, out)
		}
	}
	if out := psql(t, dsn, DDL(Table{Schema: "anew", Name: "task"}, Options{}), "ON_ERROR_STOP=1"); out != "" {
		t.Errorf("as a superuser: %s", out)
	}
}

// psql runs a script, and returns what is said of errors and warnings.
func psql(t *testing.T, dsn, script string, settings ...string) string {
	t.Helper()
	args := []string{"-X", "-q", "-d", dsn, "-f", "-"}
	for _, setting := range settings {
		args = append(args, "-v", setting)
	}
	run := exec.CommandContext(t.Context(), filepath.Join(servertest.Server(t).Bindir, "psql"), args...)
	run.Stdin = strings.NewReader(script)
	out, err := run.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestTheScriptCompletesAPartitionedTable: nothing is missing then, nor when it is run again.
func TestTheScriptCompletesAPartitionedTable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := connect(t, dsn)
	execute(t, conn, "CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan); CREATE TABLE task_all PARTITION OF task DEFAULT")
	for range 2 {
		if out := psql(t, dsn, DDL(task, Options{}), "ON_ERROR_STOP=1", "ON_ERROR_ROLLBACK=off"); out != "" {
			t.Error(out)
		}
	}
	complete(t, conn, task, nil)
}
