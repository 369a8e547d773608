package smoke

import (
	"fmt"
	"strings"
	"testing"
)

// tcp is a connection string of a role that needs its password.
func tcp(user, password, database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s dbname=%s sslmode=disable", postgres.Port, user, password, database)
}

func TestRemote(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.exec("CREATE ROLE far LOGIN PASSWORD 'hush far'")
	u.exec(`CREATE DATABASE "far away"`)
	const input = "SELECT current_database(), session_user, current_setting(''application_name'')"
	for _, c := range []struct{ remote, want string }{
		{tcp("far", "'hush far'", "'far away'"), "far away\tfar"},
		{fmt.Sprintf("postgresql://far:hush%%20far@127.0.0.1:%d/far%%20away?sslmode=disable", postgres.Port), "far away\tfar"},
		{"elsewhere", "postgres\tpostgres"},
		{"dbname='far away'", "far away\tpostgres"}, // the rest comes from the target's own connection
		{"user=far password=x", shared.name + "\tfar"},
	} {
		row := u.becomes(u.add("remote, input, header", "$$"+c.remote+"$$, '"+input+"', false"), "DONE")
		u.shows(row, "output", c.want+"\tpg_task public task TestRemote")
	}
	// Its effects are there, and its end is here.
	id := u.add("remote, input, repeat", "'elsewhere', 'CREATE TABLE remote_effect (a int); SELECT current_setting(''pg_task.id'')', '1 day'")
	u.shows(u.becomes(id, "DONE"), "output", "CREATE TABLE\n"+id)
	u.is("(SELECT count(*) FROM task WHERE parent = $1)", "1", id)
	there := connect(t, postgres.DSN("postgres"))
	there.is("to_regclass('remote_effect') IS NOT NULL", "t")
	there.exec("DROP TABLE remote_effect")
}

func TestRemoteFails(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.exec("CREATE ROLE wary LOGIN PASSWORD 'right'")
	for _, c := range []struct{ remote, sqlstate string }{
		{tcp("wary", "hush-hush", "postgres"), "28P01"},
		{tcp("nobody_at_all", "hush-hush", "postgres"), "28P01"},
		{"dbname=nowhere_at_all", "3D000"},
		{"nowhere", ""},
		{"host=127.0.0.1 hush-hush", ""},
		{"host=127.0.0.1 port=hush-hush", ""},
		{"dbname=postgres passfile=/etc/hush-hush", ""},
		{"dbname=postgres service=hush-hush", ""},
		{"dbname=postgres sslrootcert=/etc/passwd sslkey=/etc/hush-hush sslcert=/etc/passwd", ""},
	} {
		id := u.add("remote, input", "'"+c.remote+"', 'SELECT 1'")
		row := u.becomes(id, "FAIL")
		if got := row.text("sqlstate"); c.sqlstate != "" && got != c.sqlstate || got == "NULL" {
			t.Errorf("remote %s fails with %s, want %s", c.remote, got, c.sqlstate)
		}
		if text := row.text("error"); !strings.HasPrefix(text, "ERROR:  ") || strings.Contains(text, "hush-hush") {
			t.Errorf("remote %s fails with %s", c.remote, text)
		}
	}
	if strings.Contains(shared.program.Log.String(), "hush") {
		t.Error("a password is in the log")
	}
}

// TestRemoteIsAway: a server that cannot accept the connection now is tried again.
func TestRemoteIsAway(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("remote, input", "'wrong', 'SELECT 1'")
	u.until("SELECT state = 'PLAN' AND error IS NOT NULL FROM task WHERE id = $1", id)
	row := u.task(id)
	u.shows(row, "attempt", "0", "start", "NULL", "sqlstate", "08001")
	u.is("(SELECT plan BETWEEN base + interval '0.5 s' AND now() + interval '1 min' FROM task WHERE id = $1)", "t", id)
	if strings.Contains(row.text("error"), "secret") || strings.Contains(shared.program.Log.String(), "secret") {
		t.Error("a password shows")
	}
	u.exec("UPDATE task SET remote = NULL, plan = now() WHERE id = " + id)
	u.shows(u.becomes(id, "DONE"), "error", "NULL")

	// When active has passed since the base, the task is GONE.
	id = u.add("remote, input, active", "'host=127.0.0.1 port=1 dbname=active', 'SELECT 1', '500 ms'")
	u.becomes(id, "GONE")
}

// TestRemoteOfALowRole: a role that is no superuser must give a password, and the server must have
// asked for it.
func TestRemoteOfALowRole(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	admin := connect(t, postgres.DSN(database))
	admin.exec("CREATE ROLE remote_low LOGIN PASSWORD 'hush'; GRANT CREATE ON SCHEMA public TO remote_low; GRANT CREATE ON DATABASE " + database + " TO remote_low")
	u := serve(t, database, object{"user": "remote_low"}).user(t)
	for _, remote := range []string{
		"dbname=postgres", "user=postgres", "user=postgres password=any",
		// Over the socket, where no password is asked for.
		"host=127.0.0.1 user=postgres dbname=postgres", "user=remote_low password=hush",
	} {
		row := u.becomes(u.add("remote, input", "'"+remote+"', 'SELECT 1'"), "FAIL")
		if !strings.Contains(row.text("error"), "password") || strings.Contains(row.text("error"), "hush") {
			t.Errorf("remote %s fails with %s", remote, row.text("error"))
		}
	}
	u.shows(u.becomes(u.add("remote, input", "'"+tcp("remote_low", "hush", database)+"', 'SELECT session_user'"), "DONE"), "output", "remote_low")
	u.shows(u.becomes(u.add("remote, input", "'elsewhere', 'SELECT session_user'"), "DONE"), "output", "postgres")
}
