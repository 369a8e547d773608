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

// TestCheckCountsConnections: check warns where all targets together may open more connections than
// the server, a role or a database may have.
func TestCheckCountsConnections(t *testing.T) {
	t.Parallel()
	one := servertest.New(t, server.Options{Settings: map[string]string{"max_connections": "60", "superuser_reserved_connections": "5"}})
	admin := servertest.Connect(t, one.DSN("postgres"))
	for _, sql := range []string{"CREATE ROLE worker LOGIN", "CREATE ROLE narrow LOGIN CONNECTION LIMIT 10", "CREATE DATABASE a OWNER worker", "CREATE DATABASE b OWNER worker CONNECTION LIMIT 20", "GRANT worker TO postgres, narrow"} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	check := func(targets string, want ...string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "pgtaskd.json")
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"dsn": %q, "targets": [%s]}`, one.DSN("postgres"), targets), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), []string{"check", "--config", file}, &stdout, &stderr)
		said := stderr.String()
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("%s: check does not say %q: %s", targets, part, said)
			}
		}
		if n := strings.Count(said, "\n"); err != nil || n != len(want) {
			t.Errorf("%s: %v, %d lines: %s", targets, err, n, said)
		}
	}
	const lead = "warning: targets[0]: run + 2 for each target makes up to "
	check(`{"data": "a", "user": "worker", "run": 53}`)
	check(`{"data": "a", "user": "worker", "run": 54}`, lead+"56 connections, and max_connections of the server, less those reserved for others, leaves 55: lower run")
	const super = "under which tasks run, is a superuser"
	check(`{"data": "a", "user": "postgres", "trust": ["worker"], "run": 58}`, super)
	check(`{"data": "a", "user": "postgres", "trust": ["worker"], "run": 59}`, "leaves 60", super)
	check(`{"data": "a", "user": "worker", "table": "x", "run": 25}, {"data": "a", "user": "worker", "table": "y", "run": 28}`,
		"warning: targets[0], targets[1]: run + 2 for each target makes up to 57 connections, and max_connections")
	check(`{"data": "b", "user": "worker", "run": 19}`, lead+`21 connections, and CONNECTION LIMIT of database "b" is 20`)
	check(`{"data": "b", "user": "postgres", "trust": ["worker"], "run": 19}`, super)
	check(`{"data": "a", "user": "narrow", "run": 9}`, lead+`11 connections, and CONNECTION LIMIT of role "narrow" is 10`)
	check(`{"data": "a", "user": "narrow", "run": 500}`, "max_connections", `role "narrow"`)
}

// TestReadyButForAWarning: a target that is served, though it may meet a limit, is not simply
// ready.
func TestReadyButForAWarning(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	var ddl bytes.Buffer
	if err := run(t.Context(), []string{"schema"}, &ddl, &ddl); err != nil {
		t.Fatal(err)
	}
	_, statements, _ := strings.Cut(ddl.String(), "\n") // the first line is psql's
	if _, err := conn.PgConn().Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{10: "/public/task: ready\n", 5000: "/public/task: ready, but see the warning\n"} {
		file := filepath.Join(t.TempDir(), "pgtaskd.json")
		text := fmt.Sprintf(`{"dsn": %q, "targets": [{"data": %q, "user": "postgres", "run": %d}]}`, dsn, value(t, conn, "SELECT current_database()"), n)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"check", "--config", file}, &stdout, &stderr); err != nil || !strings.HasSuffix(stdout.String(), want) {
			t.Errorf("run %d: %v, %s%s", n, err, stdout.String(), stderr.String())
		}
	}
}

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
