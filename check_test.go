package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestRoleWithoutPassword: check does not promise a role that could not log in.
func TestRoleWithoutPassword(t *testing.T) {
	t.Parallel()
	one := servertest.New(t, server.Options{HBA: []string{"local all asked scram-sha-256"}})
	for role, want := range map[string]string{
		"asked":   `role "asked" does not exist, and would be created without a password, which the server asks for: run as a superuser: CREATE ROLE "asked" LOGIN PASSWORD '…'`,
		"trusted": `would create role "trusted", without a password`,
	} {
		file := filepath.Join(t.TempDir(), "pgtaskd.json")
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"dsn": %q, "targets": [{"data": "x", "user": %q}]}`, one.DSN("postgres"), role), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := run(t.Context(), []string{"check", "--config", file}, &out, &out)
		if !strings.Contains(out.String(), want) || (err != nil) != (role == "asked") {
			t.Errorf("%s: %v: %s", role, err, out.String())
		}
	}
}

// TestCheckOfThePage: what run would refuse, and an address at which it would not serve the page.
func TestCheckOfThePage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ http, want string }{
		"open":  {`{"listen": "0.0.0.0:1"}`, `warning: the page is not served, only health and metrics: http.listen is not a loopback address`},
		"local": {`{"listen": "127.0.0.1:1"}`, ""},
		"role":  {`{"listen": "127.0.0.1:1", "users": [{"name": "ann", "token_file": "x", "role": "admin"}]}`, `http.users[0].role: must be one of operator, reader, not "admin"`},
		"file":  {`{"listen": "127.0.0.1:1", "users": [{"name": "ann", "token_file": "/nowhere", "role": "reader"}]}`, `http.users[0].token_file: open /nowhere: no such file`},
	} {
		file := filepath.Join(t.TempDir(), "pgtaskd.json")
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"http": %s, "targets": []}`, c.http), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		status := exitCode(run(t.Context(), []string{"check", "--config", file}, &out, &said), &said)
		if failed := name == "role" || name == "file"; (status == 1) != failed || !strings.Contains(said.String(), c.want) || c.want == "" && said.Len() > 0 {
			t.Errorf("%s: %d %s", name, status, said.String())
		}
	}
}

// TestCheckSaysWhatRemotesPromise, and which right would change it.
func TestCheckSaysWhatRemotesPromise(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	database := value(t, conn, "SELECT current_database()")
	for _, statement := range []string{"CREATE ROLE weak LOGIN", "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(bool, text, text) FROM PUBLIC"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "pgtaskd.json")
	config := fmt.Sprintf(`{"dsn": %q, "targets": [{"data": %q, "user": "postgres"}],
		"remotes": {"good": "application_name=good", "weak": "user=weak", "away": "host=/nowhere"}}`, dsn, database)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"check", "--config", file}, &out, &said); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`remote "good": effects happen exactly once`,
		`remote "weak": effects happen at least once: permission denied for function pg_logical_emit_message; as a superuser there: ` +
			`GRANT EXECUTE ON FUNCTION pg_catalog.pg_logical_emit_message(bool, text, text) TO "weak"`,
		`warning: remote "away" cannot be reached: `,
	} {
		if !strings.Contains(out.String()+said.String(), want) {
			t.Errorf("no %s in:\n%s%s", want, out.String(), said.String())
		}
	}
}
