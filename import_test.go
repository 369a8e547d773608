package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// TestImportMovesTheJobsOfPgCron needs the extension: server/install.sh pg_cron installs it.
func TestImportMovesTheJobsOfPgCron(t *testing.T) {
	t.Parallel()
	available := servertest.Get(t, servertest.Connect(t, servertest.Database(t)), "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'")
	if available == "0" {
		t.Skip("pg_cron is not installed: run server/install.sh pg_cron")
	}
	s := servertest.New(t, server.Options{Settings: map[string]string{"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres", "cron.launch_active_jobs": "off"}})
	dsn := s.DSN("postgres")
	conn := servertest.Connect(t, dsn)
	if _, errors, status := imports(t, dsn, "pg_cron"); status != 1 || !strings.Contains(errors, "has no pg_cron") {
		t.Errorf("without the extension: %d, %s", status, errors)
	}
	for _, statement := range []string{
		"CREATE EXTENSION pg_cron",
		"SELECT cron.schedule('nightly', '0 3 * * 1-5', E'DELETE FROM old;\nVACUUM old')",
		"SELECT cron.schedule('*/5 * * * *', 'SELECT 1')",
		"SELECT cron.schedule('off', '@daily', 'SELECT 2')", "SELECT cron.alter_job(3, active => false)",
		"SELECT cron.schedule('start', '@reboot', 'SELECT 3')",
		"SELECT cron.schedule_in_database('other', '0 4 * * *', 'SELECT 4', 'template1')",
		"INSERT INTO cron.job (jobname, schedule, command, nodename, nodeport) VALUES ('far', '0 5 * * *', 'SELECT 5', E'\\x1b[31m', 5432)",
	} {
		servertest.Exec(t, conn, statement)
	}
	file, notes, status := imports(t, dsn, "pg_cron")
	if want := `- key: "nightly"
  group: "nightly"
  cron: "CRON_TZ=GMT 0 3 * * 1-5"
  input: |-
    DELETE FROM old;
    VACUUM old
- key: "pg_cron job 2"
  group: "pg_cron job 2"
  cron: "CRON_TZ=GMT */5 * * * *"
  input: "SELECT 1"
- key: "off"
  group: "off"
  cron: "CRON_TZ=GMT @daily"
  plan: infinity
  input: "SELECT 2"
`; file != want || status != 0 {
		t.Errorf("status %d:\n%s", status, file)
	}
	if want := `job 3 "off", schedule "@daily": is inactive: it is parked (plan infinity) until UPDATE task SET plan = DEFAULT WHERE key = '…' lets it wait for its next run
job 4 "start", schedule "@reboot": left out: name "@reboot" at character 13 is no time: insert a task when the server starts
job 5 "other", schedule "0 4 * * *": left out: it runs in database "template1": move it to a task table there, with --database
`; !strings.HasPrefix(notes, want) || !strings.Contains(notes, `left out: it runs on another server (\x1b[31m, port`) {
		t.Errorf("notes:\n%s", notes)
	}
	if file, _, _ := imports(t, dsn, "pg_cron", "--database", "template1"); !strings.Contains(file, `key: "other"`) || strings.Contains(file, "nightly") {
		t.Errorf("of another database:\n%s", file)
	}
	servertest.Exec(t, conn, "CREATE ROLE anna LOGIN PASSWORD 'a'; GRANT USAGE ON SCHEMA cron TO anna")
	// Row security hides the jobs of others.
	if own, errors, status := imports(t, dsn+" user=anna password=a", "pg_cron", "--user", "postgres"); status != 0 {
		t.Errorf("to a role that is no superuser: %d, %s, %s", status, own, errors)
	}
	if stop := stops(t, conn, notes, "pg_cron"); stop != "SELECT cron.alter_job(1, active := false);\nSELECT cron.alter_job(2, active := false);" {
		t.Error(stop)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(concat(jobid, active), ' ' ORDER BY jobid) FROM cron.job"); got != "1f 2f 3f 4t 5t 6t" {
		t.Error(got)
	}
	servertest.Exec(t, conn, "SELECT cron.alter_job(1, active := true)")
	servertest.Exec(t, conn, "SELECT cron.alter_job(2, active := true)")
	tasktest.Make(t, conn, schema.Options{})
	if out, errors, status := imports(t, dsn, "pg_cron", "--insert"); status != 0 || !strings.Contains(out, "3 new") {
		t.Errorf("--insert: %d\n%s%s", status, out, errors)
	}
	if out, errors, status := imports(t, dsn, "pg_cron", "--insert"); status != 0 || !strings.Contains(out, "nothing to do: 3 unchanged") {
		t.Errorf("--insert again: %d\n%s%s", status, out, errors)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(concat_ws('|', key, state, plan = 'infinity', owner), ' ' ORDER BY id) FROM task"); got != "nightly|PLAN|f|pg_cron pg_cron job 2|PLAN|f|pg_cron off|PLAN|t|pg_cron" {
		t.Error(got)
	}
	if _, errors, status := imports(t, dsn, "pg_cron", "--insert", "--user", "x"); status != 2 {
		t.Error(errors)
	}
}

// TestImportReadsNoStrangersTable: a view in its place could run any code.
func TestImportReadsNoStrangersTable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA cron; CREATE VIEW cron.job AS SELECT 1 / 0 AS jobid", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"import", "pg_cron", "--dsn", dsn}, &out, &out); err == nil || !strings.Contains(err.Error(), "has no pg_cron") {
		t.Error(err)
	}
}

// stops runs and returns the statements after the notes, which stop the moved jobs in the other
// scheduler.
func stops(t *testing.T, conn *pgx.Conn, notes, scheduler string) string {
	t.Helper()
	_, found, _ := strings.Cut(notes, "-- When these jobs run here, stop them in "+scheduler+", in database ")
	_, statements, _ := strings.Cut(found, "\n")
	servertest.Exec(t, conn, statements)
	return strings.TrimSpace(statements)
}

// imports runs an import in this process.
func imports(t *testing.T, dsn, from string, args ...string) (stdout, stderr string, status int) {
	var out, errors bytes.Buffer
	status = exitCode(run(t.Context(), append([]string{"import", from, "--dsn", dsn}, args...), &out, &errors), &errors)
	return out.String(), errors.String(), status
}

// TestImportMovesTheJobsOfPgAgent needs its tables: server/install.sh pgagent installs them.
func TestImportMovesTheJobsOfPgAgent(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	if servertest.Get(t, conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'pgagent'") == "0" {
		t.Skip("pgagent is not installed: run server/install.sh pgagent")
	}
	if _, errors, status := imports(t, dsn, "pgagent"); status != 1 || !strings.Contains(errors, "has no pgAgent") {
		t.Errorf("without the extension: %d, %s", status, errors)
	}
	servertest.Exec(t, conn, "SET timezone = 'UTC'; CREATE EXTENSION pgagent")
	for _, statement := range []string{
		"INSERT INTO pgagent.pga_job (jobid, jobjclid, jobname) VALUES (1, 1, 'nightly'), (2, 1, 'shell'), (3, 1, 'nightly')",
		`INSERT INTO pgagent.pga_jobstep (jstjobid, jstname, jstkind, jstcode, jstdbname, jstonerror) SELECT 1, name, 's', code, current_database(), 'f'
			FROM (VALUES ('b', 'INSERT INTO done VALUES (2)'), ('a', 'INSERT INTO done VALUES (1)')) AS s (name, code)`,
		"INSERT INTO pgagent.pga_jobstep (jstjobid, jstname, jstkind, jstcode) VALUES (2, 'a', 'b', 'rm -rf /')",
		"INSERT INTO pgagent.pga_jobstep (jstjobid, jstname, jstkind, jstcode, jstdbname) VALUES (3, 'a', 's', 'SELECT 1', current_database())",
		`INSERT INTO pgagent.pga_schedule (jscjobid, jscname, jscminutes, jschours, jscmonthdays, jscstart) SELECT id, 'night', m, h, d, '2020-01-01'
			FROM generate_series(1, 3) AS id, (SELECT array_agg(i = 30 ORDER BY i) FROM generate_series(0, 59) AS i) AS minutes (m),
			(SELECT array_agg(i = 3 ORDER BY i) FROM generate_series(0, 23) AS i) AS hours (h), (SELECT array_agg(i IN (1, 15) ORDER BY i) FROM generate_series(1, 32) AS i) AS days (d)`,
		`INSERT INTO pgagent.pga_job (jobid, jobjclid, jobname) VALUES (4, 1, 'odd')`,
		"INSERT INTO pgagent.pga_jobstep (jstjobid, jstname, jstkind, jstcode, jstdbname) VALUES (4, 'a', 's', 'SELECT 1', current_database())",
		"SET session_replication_role = replica", // its trigger does not expect these times
		`INSERT INTO pgagent.pga_schedule (jscjobid, jscname, jscstart, jscend) VALUES (4, 'always', '-infinity', 'infinity'), (4, 'over', '4713-01-01 BC', '1800-01-01'),
			(4, 'long over', '-infinity', '-infinity'), (4, 'never', 'infinity', NULL), (4, 'late', '10000-01-01', '20000-01-01')`,
		"RESET session_replication_role",
		"INSERT INTO pgagent.pga_exception (jexscid, jexdate) SELECT jscid, '2099-12-25' FROM pgagent.pga_schedule WHERE jscjobid = 3",
		"CREATE TABLE done (n int)",
	} {
		servertest.Exec(t, conn, statement)
	}
	file, notes, status := imports(t, dsn, "pgagent")
	if want := `- key: "nightly (job 3)"
  group: "nightly (job 3)"
  cron: "CRON_TZ=UTC 30 3 1,15 * *"
  active: "0"
  input: "SELECT 1"
- key: "odd"
  group: "odd"
  cron: "CRON_TZ=UTC * * * * *"
  active: "0"
  input: "SELECT 1"
`; status != 0 || !strings.HasSuffix(file, want) || !strings.HasPrefix(file, "- key: \"nightly\"\n  group: \"nightly\"\n  cron: \"CRON_TZ=UTC 30 3 1,15 * *\"\n  active: \"0\"\n  input: |-\n    DO $pipeline$\n") {
		t.Errorf("status %d:\n%s", status, file)
	}
	if want := `job 2 "shell": left out: it is a script of the shell, and tasks are SQL
job 3 "nightly", schedule "night": its exception 2099-12-25 is not carried over: have its SQL look whether it is to run
job 4 "odd", schedule "over": left out: it ended at 1800-01-01T00:00:00Z
job 4 "odd", schedule "long over": left out: it ended at 0001-01-01T00:00:00Z
job 4 "odd", schedule "never": left out: it begins at 9999-01-01T00:00:00Z, and never runs
job 4 "odd", schedule "late": left out: it begins at 9999-01-01T00:00:00Z, and never runs
`; !strings.HasPrefix(notes, want) {
		t.Errorf("notes:\n%s", notes)
	}
	if stop := stops(t, conn, notes, "pgagent"); stop != "UPDATE pgagent.pga_job SET jobenabled = false WHERE jobid IN (1, 3, 4);" {
		t.Error(stop)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(concat(jobid, jobenabled), ' ' ORDER BY jobid) FROM pgagent.pga_job"); got != "1f 2t 3f 4f" {
		t.Error(got)
	}
	servertest.Exec(t, conn, "UPDATE pgagent.pga_job SET jobenabled = true WHERE jobid < 4")
	tasktest.Make(t, conn, schema.Options{})
	for _, want := range []string{"3 new", "nothing to do: 3 unchanged"} {
		if out, errors, status := imports(t, dsn, "pgagent", "--insert"); status != 0 || !strings.Contains(out, want) {
			t.Errorf("--insert: %d\n%s%s", status, out, errors)
		}
	}
	if _, errors, status := imports(t, dsn, "pgagent", "--insert", "--database", "x"); status != 2 {
		t.Error(errors)
	}
	servertest.Exec(t, conn, "UPDATE task SET plan = now() WHERE key = 'nightly'")
	if err := run(t.Context(), []string{"drain", "--log-level", "info", dsn}, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(n::text, ' ' ORDER BY ctid) FROM done"); got != "1 2" {
		t.Errorf("the steps have run as %s", got)
	}
}

// tablesOfTimetable are the tables of pg_timetable, from its documentation.
const tablesOfTimetable = `CREATE SCHEMA timetable;
CREATE DOMAIN timetable.cron AS text;
CREATE TYPE timetable.command_kind AS ENUM ('SQL', 'PROGRAM', 'BUILTIN');
CREATE TABLE timetable.chain (chain_id bigserial PRIMARY KEY, chain_name text NOT NULL UNIQUE, run_at timetable.cron, max_instances integer, timeout integer DEFAULT 0,
	live boolean DEFAULT false, self_destruct boolean DEFAULT false, exclusive_execution boolean DEFAULT false, client_name text, on_error text);
CREATE TABLE timetable.task (task_id bigserial PRIMARY KEY, chain_id bigint REFERENCES timetable.chain, task_order double precision NOT NULL, task_name text,
	kind timetable.command_kind NOT NULL DEFAULT 'SQL', command text NOT NULL, run_as text, database_connection text, ignore_error boolean NOT NULL DEFAULT false,
	autonomous boolean NOT NULL DEFAULT false, timeout integer DEFAULT 0);
CREATE TABLE timetable.parameter (task_id bigint REFERENCES timetable.task, order_id integer, value jsonb, PRIMARY KEY (task_id, order_id));`

func TestImportMovesTheChainsOfPgTimetable(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	if _, errors, status := imports(t, dsn, "pg_timetable"); status != 1 || !strings.Contains(errors, "has no pg_timetable") {
		t.Errorf("without its tables: %d, %s", status, errors)
	}
	servertest.Exec(t, conn, "SET timezone = 'UTC'; "+tablesOfTimetable)
	for _, statement := range []string{
		"CREATE TABLE done (n int, word text)",
		"INSERT INTO timetable.chain (chain_name, run_at, live, on_error) VALUES ('load', '30 3 * * 1-5', true, 'SELECT told()'), ('start', '@reboot', true, NULL), ('often', '@after 5 minutes', true, NULL)",
		`INSERT INTO timetable.task (chain_id, task_order, command, ignore_error) VALUES (1, 20, 'SELECT 1/0', true), (1, 10, 'INSERT INTO done VALUES ($1, $2)', false), (1, 30, 'INSERT INTO done VALUES (3, ''c'')', false),
			(2, 10, 'SELECT 1', false), (3, 10, 'SELECT 1', false), (NULL, 10, 'SELECT 2', false)`,
		`INSERT INTO timetable.parameter VALUES (2, 1, '[1, "it''s"]'), (2, 2, '[2, null]')`,
	} {
		servertest.Exec(t, conn, statement)
	}
	file, notes, status := imports(t, dsn, "pg_timetable")
	if want := `- key: "load"
  group: "load"
  cron: "CRON_TZ=UTC 30 3 * * 1-5"
  on_fail: |-
    DO $on_error$
    BEGIN
        IF EXISTS (SELECT FROM "public"."task" AS t JOIN "public"."task" AS f ON f.id = t.parent
            WHERE t.id = pg_catalog.current_setting('pg_task.id')::pg_catalog.int8 AND f.state = 'FAIL')
        THEN
            EXECUTE $sql$SELECT told()$sql$;
        END IF;
    END
    $on_error$
  input: |-
    PREPARE task_2 AS INSERT INTO done VALUES ($1, $2); EXECUTE task_2('1', 'it''s'); EXECUTE task_2('2', NULL); DEALLOCATE task_2;
    DO $ignore$BEGIN EXECUTE $sql$SELECT 1/0;$sql$; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; END$ignore$;
    INSERT INTO done VALUES (3, 'c');
- key: "often"
  group: "often"
  repeat: "5 minutes"
  drift: true
  input: "SELECT 1;"
`; file != want || status != 0 {
		t.Errorf("status %d:\n%s", status, file)
	}
	if want := `chain 1 "load", run_at "30 3 * * 1-5": task "task 1" may fail without harm: it runs in a DO block that catches errors, which shows no output
chain 2 "start", run_at "@reboot": left out: a start of the server is no time: insert a task when the server starts
`; !strings.HasPrefix(notes, want) {
		t.Errorf("notes:\n%s", notes)
	} else if stop := stops(t, conn, notes, "pg_timetable"); stop != "UPDATE timetable.chain SET live = false WHERE chain_id IN (1, 3);" {
		t.Error(stop)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(concat(chain_id, live), ' ' ORDER BY chain_id) FROM timetable.chain"); got != "1f 2t 3f" {
		t.Error(got)
	}
	servertest.Exec(t, conn, "UPDATE timetable.chain SET live = true")
	tasktest.Make(t, conn, schema.Options{})
	for _, want := range []string{"2 new", "nothing to do: 2 unchanged"} {
		if out, errors, status := imports(t, dsn, "pg_timetable", "--insert"); status != 0 || !strings.Contains(out, want) {
			t.Errorf("--insert: %d\n%s%s", status, out, errors)
		}
	}
	servertest.Exec(t, conn, servertest.Get(t, conn, "SELECT input FROM task WHERE key = 'load'"))
	if got := servertest.Get(t, conn, "SELECT string_agg(concat(n, word), ' ' ORDER BY n) FROM done"); got != "1it's 2 3c" {
		t.Error(got)
	}
	// on_error is not for a run that was missed
	servertest.Exec(t, conn, "CREATE FUNCTION told() RETURNS void LANGUAGE sql AS 'INSERT INTO done VALUES (9)'")
	for state, want := range map[string]string{"GONE": "0", "FAIL": "1"} {
		servertest.Exec(t, conn, "TRUNCATE done; SET session_replication_role = replica")
		servertest.Exec(t, conn, "SELECT set_config('pg_task.id', n.id::text, false) FROM (SELECT nextval('task_id_seq') AS id) AS n")
		servertest.Exec(t, conn, "INSERT INTO task (id, state, input) VALUES (-1, '"+state+"', 'x'); INSERT INTO task (id, parent, input) VALUES (current_setting('pg_task.id')::int8, -1, 'x')")
		servertest.Exec(t, conn, servertest.Get(t, conn, "SELECT on_fail FROM task WHERE key = 'load'"))
		servertest.Exec(t, conn, "DELETE FROM task WHERE id = -1")
		if got := servertest.Get(t, conn, "SELECT count(*) FROM done"); got != want {
			t.Errorf("%s: on_error ran %s times", state, got)
		}
	}
}
