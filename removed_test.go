package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgtaskd/server/servertest"
)

// TestTargetTakenOut: a target that is removed from the file ends without an error, in whatever
// state.
func TestTargetTakenOut(t *testing.T) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	file := filepath.Join(t.TempDir(), "pgtaskd.json")
	database := value(t, conn, "SELECT current_database()")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	target := func(data, table string) string {
		return fmt.Sprintf(`{"data": %q, "user": "postgres", "table": %q, "create": %v, "grace": "0 s"}`, data, table, data == database)
	}
	config := func(targets ...string) string {
		return fmt.Sprintf(`{"dsn": %q, "targets": [%s]}`, dsn, strings.Join(targets, ", "))
	}
	write(config(target(database, "idle"), target(database, "busy"), target("nowhere", "absent"), target(database, "gone")))
	d := start(t, "--config", file)
	d.leads(3)
	for _, sql := range []string{"INSERT INTO busy (input) VALUES ('SELECT pg_sleep(60)')", "DROP TABLE gone"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	d.until("WORK", func() bool { return value(t, conn, "SELECT state FROM busy") == "WORK" })
	d.until("two failures", func() bool { return strings.Count(d.stderr.String(), `"level":"error"`) == 2 })
	write(config())
	d.signal(syscall.SIGHUP)
	d.until("four ends", func() bool { return strings.Count(d.stderr.String(), `"target stopped"`) == 4 })
	if n := strings.Count(d.stderr.String(), `"level":"error"`); n != 2 {
		t.Errorf("%d errors", n)
	}
	d.signal(syscall.SIGTERM)
	if err := d.end(); err != nil {
		t.Error(err)
	}
}
