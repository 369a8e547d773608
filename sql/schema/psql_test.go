package schema

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestTheScriptRefusesWhatIsAnothers: the head refuses, and nothing is made after it, even if psql
// continues after errors.
func TestTheScriptRefusesWhatIsAnothers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ made, says string }{
		{"CREATE FUNCTION s.pgtaskd_wake() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; ALTER FUNCTION s.pgtaskd_wake() OWNER TO $r", "function pgtaskd_wake belongs to role $r"},
		{"CREATE TABLE s.task_leader (); ALTER TABLE s.task_leader OWNER TO $r", "task_leader belongs to role $r"},
		{"CREATE TYPE s.state AS ENUM ('PLAN'); ALTER TYPE s.state OWNER TO $r", "type state belongs to role $r"},
		{"CREATE SEQUENCE s.task_group_changes; ALTER SEQUENCE s.task_group_changes OWNER TO $r", "task_group_changes belongs to role $r"},
		{"GRANT CREATE ON SCHEMA s TO $r", "the right to create in the schema belongs to role $r"},
		// Refused for a superuser.
		{"GRANT CREATE ON SCHEMA s TO PUBLIC", "the right to create in the schema belongs to role PUBLIC\nHINT:  REVOKE it, "},
		{"CREATE TABLE s.task (id serial PRIMARY KEY, title text NOT NULL)", "table s.task is no table of tasks"},
		{"CREATE TABLE s.task (id bigserial PRIMARY KEY, input text NOT NULL); ALTER TABLE s.task OWNER TO $r; ALTER SCHEMA s OWNER TO $r", ""},
	} {
		dsn := servertest.Database(t)
		conn := connect(t, dsn)
		role := stranger(t, conn, "mallory")
		execute(t, conn, strings.ReplaceAll("CREATE SCHEMA s; "+c.made, "$r", role))
		said := psql(t, dsn, DDL(named("s", "task"), Options{}))
		says := strings.ReplaceAll(c.says, "$r", role)
		made := value(t, conn, "SELECT to_regclass('s.task_session') IS NOT NULL")
		if made != strconv.FormatBool(says == "") || !strings.Contains(said, says) {
			t.Errorf("%s: made %s, said %s", c.made, made, said)
		}
		if said = psql(t, dsn, DDL(named("s", "task"), Options{Trust: []string{role, "PUBLIC"}})); strings.Contains(said, role) {
			t.Errorf("%s, by a role that is trusted: %s", c.made, said)
		}
	}
}

// TestTheScriptIsShort and plain enough for a person to review.
func TestTheScriptIsShort(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	script := DDL(task, Options{})
	head := script[strings.Index(script, "\nDO $"):]
	head = head[:strings.Index(head, "\n$$;")]
	lines, look := strings.Count(script, "\n"), strings.Count(head, "\n")
	t.Logf("%d lines, %d bytes, of which the look at its head is %d lines", lines, len(script), look)
	if lines > 1060 || look > 40 || len(script) > 60_000-len("\\set ON_ERROR_STOP on\n\\set SHOW_CONTEXT never\n") {
		t.Errorf("%d lines, %d bytes, head %d", lines, len(script), look)
	}
	further := named("public", "job")
	second := DDL(further, Options{Further: true})
	t.Logf("a further table: %d lines, %d bytes", strings.Count(second, "\n"), len(second))
	if strings.Count(second, "\n") > 400 {
		t.Errorf("a further table: %d lines", strings.Count(second, "\n"))
	}
	if strings.Contains(script, "OPERATOR(") || strings.Count(script, "\nDO ") != 1 || strings.Contains(script, task.Hash()+"(") {
		t.Error("the script is not plain")
	}
	for range 2 {
		if said := psql(t, dsn, script); said != "" {
			t.Error(said)
		}
	}
	if said := psql(t, dsn, second); said != "" {
		t.Error(said)
	}
	conn := connect(t, dsn)
	complete(t, conn, task, nil)
	complete(t, conn, further, nil)
}

// TestTheScriptNeedsNoMoreThanASchema: a role that may create objects in an existing schema need
// not be able to create schemas.
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
		out := psql(t, dsn+" user="+maker, DDL(sql.Table{Schema: where, Name: "task"}, Options{}), "ON_ERROR_STOP=1")
		if made := where == schema; made != (out == "") || !made && !strings.Contains(out, "permission denied for database") {
			t.Errorf("%s: %s", where, out)
		}
	}
	if out := psql(t, dsn, DDL(sql.Table{Schema: "anew", Name: "task"}, Options{}), "ON_ERROR_STOP=1"); out != "" {
		t.Errorf("as a superuser: %s", out)
	}
}

// psql runs a script, and returns its errors and warnings.
func psql(t *testing.T, dsn, script string, settings ...string) string {
	t.Helper()
	args := []string{"-X", "-q", "-d", dsn, "-f", "-"}
	for _, setting := range settings {
		args = append(args, "-v", setting)
	}
	run := exec.CommandContext(t.Context(), servertest.Server(t).Program("psql"), args...)
	run.Stdin = strings.NewReader(script)
	out, err := run.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestTheScriptCompletesAPartitionedTable, and running it again is possible.
func TestTheScriptCompletesAPartitionedTable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := connect(t, dsn)
	execute(t, conn, "CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan); CREATE TABLE task_all PARTITION OF task DEFAULT")
	for range 2 {
		if out := psql(t, dsn, DDL(task, Options{Partitioned: true}), "ON_ERROR_STOP=1", "ON_ERROR_ROLLBACK=off"); out != "" {
			t.Error(out)
		}
	}
	complete(t, conn, task, nil)
}
