package work

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgtaskd/remote"
)

// TestALoginActsAsAnotherRole: by ALTER ROLE … SET role, as with psql. That role owns the table, and
// its rights alone count: the login inherits nothing. A leader still sees and ends the login's
// sessions.
func TestALoginActsAsAnotherRole(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	login, owner := s.role(), s.role()
	s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + owner + "; ALTER ROLE " + login + " NOINHERIT; GRANT " + owner + " TO " + login +
		"; ALTER ROLE " + login + " SET role = " + owner)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": login})
	s.target.Admin = s.target.Connect
	s.serve()
	s.settled()
	if got := s.get("SELECT string_agg(DISTINCT r.relowner::regrole::text, ' ') FROM pg_class AS r WHERE r.relnamespace = 'public'::regnamespace"); got != owner {
		t.Error("the objects belong to ", got)
	}
	for range 2 {
		id := s.add("input", "SELECT session_user || ' ' || current_user")
		s.becomes(id, "DONE")
		if got := s.get("SELECT output FROM task WHERE id = $1", id); got != login+" "+owner {
			t.Error(got)
		}
	}
	refused := s.add("input, remote", "SELECT 1", "dbname=postgres")
	s.becomes(refused, "FAIL")
	if got := s.get("SELECT split_part(error, E'\n', 1) FROM task WHERE id = $1", refused); got != "ERROR:  password is required" {
		t.Error(got)
	}
	says := fmt.Sprintf(`login \"%s\" acts as role \"%s\"`, login, owner)
	if n := strings.Count(s.logged(), says); n != 1 {
		t.Errorf("%d lines say %s", n, says)
	}
	long := s.add("input", "SELECT pg_sleep(600)")
	s.becomes(long, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", long)
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", long)
	left := s.connectAs(login).PgConn().PID() // as an earlier leader has left it
	s.enrols(int32(left))
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", s.target.ControlName())
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", left)
}

// TestALoginThatInheritsNothingEndsSessionsOfInserters: the role that it acts as may.
func TestALoginThatInheritsNothingEndsSessionsOfInserters(t *testing.T) {
	t.Parallel()
	login := ""
	c := employed(t, func(c *company) {
		login = c.role()
		c.exec(c.named("GRANT $serving TO " + login + "; GRANT pg_read_all_stats TO $serving; ALTER ROLE " + login + " NOINHERIT; ALTER ROLE " + login + " SET role = $serving"))
		c.target.Connect = c.target.Connect.With(remote.Settings{"user": login})
	})
	c.becomes(c.asks(c.alice, "SELECT session_user"), "DONE")
	for _, role := range []string{c.alice, login} {
		left := c.connectAs(role).PgConn().PID() // as an earlier leader has left it
		c.enrols(int32(left))
		c.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", c.target.ControlName())
		c.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", left)
	}
}

// TestPasswordIsReadAtEachConnection: it changes in the file, then in the server, while the target
// is served. The same holds for a remote.
func TestPasswordIsReadAtEachConnection(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	role, port := s.role(), s.get("SELECT current_setting('port')")
	s.exec("ALTER ROLE " + role + " SUPERUSER")
	file := filepath.Join(t.TempDir(), "pgpass")
	change := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, fmt.Appendf(nil, "127.0.0.1:%s:*:%s:%s\n", port, role, password), 0o600); err != nil {
			t.Fatal(err)
		}
		s.exec("ALTER ROLE " + role + " PASSWORD '" + password + "'")
	}
	change("the old one")
	settings := map[string]string{"host": "127.0.0.1", "port": port, "user": role, "dbname": s.get("SELECT current_database()"), "passfile": file, "sslmode": "disable"}
	s.target.Connect = settings
	s.target.Remotes = map[string]string{"itself": fmt.Sprintf("host=127.0.0.1 port=%s user=%s dbname=%s passfile=%s sslmode=disable", port, role, settings["dbname"], file)}
	s.serve()
	s.settled()
	serves := func() {
		t.Helper()
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		s.becomes(s.add("input, remote", "SELECT 1", "itself"), "DONE")
	}
	serves()
	change("the new one")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role)
	s.until("leading again", func() bool { return s.leads() == 2 })
	serves()
}
