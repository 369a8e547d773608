package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
)

// TestImportMovesTheJobsOfPgCron: against the extension itself, which server/install.sh pg_cron installs.
func TestImportMovesTheJobsOfPgCron(t *testing.T) {
	t.Parallel()
	available := servertest.Get(t, servertest.Connect(t, servertest.Database(t)), "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'")
	if available == "0" {
		t.Skip("pg_cron is not installed: run server/install.sh pg_cron")
	}
	s := servertest.New(t, server.Options{Settings: map[string]string{"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres", "cron.launch_active_jobs": "off"}})
	dsn := s.DSN("postgres")
	conn := servertest.Connect(t, dsn)
	imports := func(args ...string) (stdout, stderr string, status int) {
		var out, errors bytes.Buffer
		status = exitCode(run(t.Context(), append([]string{"import", "pg_cron", "--dsn", dsn}, args...), &out, &errors), &errors)
		return out.String(), errors.String(), status
	}
	if _, errors, status := imports(); status != 1 || !strings.Contains(errors, "has no pg_cron") {
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
	file, notes, status := imports()
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
	if want := `job 3 "off", schedule "@daily": is inactive: it waits with plan infinity until you set its plan
job 4 "start", schedule "@reboot": left out: name "@reboot" at character 13 is no time: insert a task when the server starts
job 5 "other", schedule "0 4 * * *": left out: it runs in database "template1": move it to a task table there, with --database
`; !strings.HasPrefix(notes, want) || !strings.Contains(notes, `left out: it runs on another server (\x1b[31m, port`) {
		t.Errorf("notes:\n%s", notes)
	}
	if file, _, _ := imports("--database", "template1"); !strings.Contains(file, `key: "other"`) || strings.Contains(file, "nightly") {
		t.Errorf("of another database:\n%s", file)
	}
	tasktest.Make(t, conn, sql.Options{})
	if out, errors, status := imports("--insert"); status != 0 || !strings.Contains(out, "3 new") {
		t.Errorf("--insert: %d\n%s%s", status, out, errors)
	}
	if out, errors, status := imports("--insert"); status != 0 || !strings.Contains(out, "nothing to do: 3 unchanged") {
		t.Errorf("--insert again: %d\n%s%s", status, out, errors)
	}
	if got := servertest.Get(t, conn, "SELECT string_agg(concat_ws('|', key, state, plan = 'infinity', owner), ' ' ORDER BY id) FROM task"); got != "nightly|PLAN|f|pg_cron pg_cron job 2|PLAN|f|pg_cron off|PLAN|t|pg_cron" {
		t.Error(got)
	}
	if _, errors, status := imports("--insert", "--user", "x"); status != 2 {
		t.Error(errors)
	}
}

// TestImportReadsNoStrangersTable: a view in its place could run anything.
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
