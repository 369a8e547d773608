package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgtaskd/server/servertest"
)

// TestRemoteOfAnotherTarget: an entry for other targets looks to a task as if it did not exist.
func TestRemoteOfAnotherTarget(t *testing.T) {
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	file := filepath.Join(t.TempDir(), "pgtaskd.json")
	database := value(t, conn, "SELECT current_database()")
	config := fmt.Sprintf(`{"dsn": %[1]q, "remotes": {"of_a": {"dsn": %[1]q, "targets": ["%[2]s/public/a"]}, "of_all": %[1]q},
		"targets": [{"data": %[2]q, "user": "postgres", "table": "a"}, {"data": %[2]q, "user": "postgres", "table": "b"}]}`, dsn, database)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d := start(t, "--config", file)
	d.leads(2)
	for _, table := range []string{"a", "b"} {
		insert := "INSERT INTO " + table + " (input, remote) VALUES ('SELECT 1', 'of_a'), ('SELECT 1', 'of_all'), ('SELECT 1', 'of_none')"
		if _, err := conn.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	const states = "SELECT string_agg(state::text, ' ' ORDER BY id) FROM "
	d.until("DONE DONE FAIL", func() bool { return value(t, conn, states+"a") == "DONE DONE FAIL" })
	d.until("FAIL DONE FAIL", func() bool { return value(t, conn, states+"b") == "FAIL DONE FAIL" })
	if texts := value(t, conn, "SELECT count(DISTINCT (error, sqlstate)) FROM (TABLE a UNION ALL TABLE b) AS t WHERE state = 'FAIL'"); texts != "1" {
		t.Errorf("%s texts of errors", texts)
	}
	d.signal(syscall.SIGTERM)
	if err := d.end(); err != nil {
		t.Error(err)
	}
}
