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
