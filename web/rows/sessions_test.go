package rows

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestALockedTableIsNamed: nobody narrows a filter for it.
func TestALockedTableIsNamed(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	servertest.Exec(t, tasks.Conn, "BEGIN; LOCK TABLE task")
	err := s.Read(t.Context(), to, time.Second, func(ctx context.Context, b *Table) error {
		_, err := b.Running(ctx, Hidden{})
		return err
	})
	if !errors.Is(err, errLocked) {
		t.Error(err)
	}
}

// TestASessionThatHasEndedIsReplaced: a restart of the server is no error of the page.
func TestASessionThatHasEndedIsReplaced(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	read := func() error {
		return s.Read(t.Context(), to, patience, func(context.Context, *Table) error { return nil })
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	const ours = "FROM pg_stat_activity WHERE application_name = 'pgtaskd-page' AND datname = current_database()"
	if got := servertest.Get(t, tasks.Conn, "SELECT count(pg_terminate_backend(pid)) "+ours); got != "1" {
		t.Fatalf("%s sessions", got)
	}
	servertest.Wait(t, patience, "its end", func() bool { return servertest.Get(t, tasks.Conn, "SELECT count(*) "+ours) == "0" })
	if err := read(); err != nil {
		t.Errorf("the next read: %v", err)
	}
}
