package main

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// TestTopWithoutATerminal: --once prints the lists; without it, the command says so.
func TestTopWithoutATerminal(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	tasktest.Public(t, servertest.Connect(t, dsn)).Add("input, key", "SELECT 1", "nightly")
	for _, args := range [][]string{{"top", "--once", dsn}, {"top", "--once", "--dsn", dsn}} {
		if out, errs, err := command(t, args...); err != nil || errs != "" || !strings.Contains(out, "nightly  PLAN waits") {
			t.Errorf("%v: %v %s%s", args, err, out, errs)
		}
	}
	if out, _, err := command(t, "top", dsn); out != "" || exitCode(err, &screen{}) != 1 || !strings.Contains(err.Error(), "--once") {
		t.Errorf("%v: %s", err, out)
	}
	if _, _, err := command(t, "top", "--once", "host=127.0.0.1 port=1 dbname=gone user=nobody"); exitCode(err, &screen{}) != 1 {
		t.Error(err)
	}
}
