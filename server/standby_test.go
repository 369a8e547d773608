package server_test

import (
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

func TestStandby(t *testing.T) {
	t.Parallel()
	primary := servertest.New(t, server.Options{})
	standby := servertest.Standby(t, primary)
	const writable = "SELECT (NOT pg_is_in_recovery())::text"
	if got := ask(t, primary.DSN("postgres"), writable) + ask(t, standby.DSN("postgres"), writable); got != "truefalse" {
		t.Errorf("before: %s", got)
	}
	if got := ask(t, primary.DSN("postgres"), "SELECT count(*)::text FROM pg_replication_slots"); got != "1" {
		t.Errorf("%s slots keep the write-ahead log", got)
	}
	if err := primary.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, standby.TCP("postgres"), writable); got != "true" {
		t.Errorf("after: %s", got)
	}
	if err := primary.Follow(t.Context(), standby); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, primary.DSN("postgres"), writable) + ask(t, standby.DSN("postgres"), "SELECT count(*)::text FROM pg_stat_replication"); got != "false1" {
		t.Errorf("the other way round: %s", got)
	}
}
