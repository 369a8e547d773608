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
