package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestNobodySetsOurSessions: what a database's or a role's owner may SET for new sessions does not
// reach those of ours that run no task.
func TestNobodySetsOurSessions(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	database, hostile := pgx.Identifier{s.target.Connect["dbname"]}.Sanitize(), map[string]string{
		"search_path": "evil, pg_catalog", "DateStyle": "'SQL, DMY'", "IntervalStyle": "sql_standard", "client_encoding": "LATIN1",
		"standard_conforming_strings": "off", "quote_all_identifiers": "on", "row_security": "off", "jit": "on", "plan_cache_mode": "force_custom_plan",
		"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on", "local_preload_libraries": "nothing", "role": "pg_monitor",
	}
	for name := range pinned {
		if hostile[name] == "" {
			t.Errorf("setting %s is not tried", name)
		}
	}
	control := func() *pgconn.PgConn {
		c, err := connect(t.Context(), s.target)
		if err != nil {
			t.Fatal(err)
		}
		return c.conn.PgConn()
	}
	for name, value := range hostile {
		s.exec("ALTER DATABASE " + database + " SET " + name + " = " + value)
	}
	fallback, err := admin(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	log, err := connectStream(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	for kind, conn := range map[string]*pgconn.PgConn{"control": control(), "fallback": fallback.PgConn(), "log": log} {
		defer conn.Close(t.Context())
		for name, value := range pinned {
			results, err := conn.Exec(t.Context(), "SHOW "+name).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if name == "client_encoding" && kind == "log" {
				value = unconverted
			}
			if got := string(results[0].Rows[0][0]); got != value && !(name == "DateStyle" && strings.HasPrefix(got, value+",")) {
				t.Errorf("%s: %s is %q, want %q", kind, name, got, value)
			}
		}
	}
}

// TestEverySessionOfOursIsPinned: only the sessions of tasks are opened without ownConfig.
func TestEverySessionOfOursIsPinned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, rooms...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		allowed := map[string]int{"own.go": 1, "sessions.go": 1}[file] // of tasks
		if found := strings.Count(string(text), "remote.Own("); !strings.HasSuffix(file, "_test.go") && found != allowed {
			t.Errorf("%s opens sessions by remote.Own in %d places, want %d: use ownConfig", file, found, allowed)
		}
	}
}

// TestARoleIsServedThatLogsInAsAnother by ALTER ROLE … SET role: its tasks run as that one, each of
// them, and end as the role that has logged in.
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
