package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

// TestNobodySetsOurSessions: settings that an owner of the database or a role SETs for new sessions
// do not reach our own sessions.
func TestNobodySetsOurSessions(t *testing.T) {
	t.Parallel()
	served, conn := databaseOf(t)
	database, hostile := pgx.Identifier{served.Connect["dbname"]}.Sanitize(), map[string]string{
		"search_path": "evil, pg_catalog", "DateStyle": "'SQL, DMY'", "IntervalStyle": "sql_standard", "client_encoding": "LATIN1",
		"standard_conforming_strings": "off", "quote_all_identifiers": "on", "row_security": "off", "jit": "on", "plan_cache_mode": "force_custom_plan",
		"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on", "local_preload_libraries": "nothing",
	}
	for name := range pinned {
		if hostile[name] == "" {
			t.Errorf("setting %s is not tried", name)
		}
	}
	control := func() *pgconn.PgConn {
		c := New(served, nil)
		if err := c.Open(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		return c.conn.PgConn()
	}
	for name, value := range hostile {
		servertest.Exec(t, conn, "ALTER DATABASE "+database+" SET "+name+" = "+value)
	}
	fallback, err := Admin(t.Context(), served.Connect)
	if err != nil {
		t.Fatal(err)
	}
	log, err := Stream(t.Context(), served)
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

// TestEverySessionOfOursIsPinned: only sessions of tasks are opened without ownConfig.
func TestEverySessionOfOursIsPinned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, rooms...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		allowed := map[string]int{"../control/own.go": 1, "../pool/session.go": 1}[file] // sessions of tasks
		if found := strings.Count(string(text), "remote.Own("); !strings.HasSuffix(file, "_test.go") && found != allowed {
			t.Errorf("%s opens sessions by remote.Own in %d places, want %d: use ownConfig", file, found, allowed)
		}
	}
}
