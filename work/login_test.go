package work

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestARoleIsServedThatLogsInAsAnother: by ALTER ROLE … SET role. Its tasks run as the other role,
// and the role that logged in writes their ends.
func TestARoleIsServedThatLogsInAsAnother(t *testing.T) {
	t.Parallel()
	s := owned(t)
	role, team := s.target.Connect["user"], s.role()
	s.exec("GRANT " + team + " TO " + role + "; ALTER ROLE " + role + " SET role = " + team)
	s.serve()
	s.settled()
	for range 2 {
		id := s.add("input", "SELECT session_user || ' ' || current_user")
		s.becomes(id, "DONE")
		if got := s.get("SELECT output FROM task WHERE id = $1", id); got != role+" "+team {
			t.Error(got)
		}
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
