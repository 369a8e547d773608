package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestLock: one session has it, or several share it, and whoever does is named, a prepared
// transaction, too.
func TestLock(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := connect(t, dsn), connect(t, dsn)
	takes := func(k Lock, want bool) {
		t.Helper()
		if has, err := k.Take(t.Context(), conn); err != nil || has != want {
			t.Errorf("has it: %t, %v", has, err)
		}
	}
	k := Leadership(task, false)
	held := func(want string) {
		t.Helper()
		h, err := k.Holder(t.Context(), conn)
		if err != nil || (h == nil) != (want == "") || h != nil && !strings.Contains(h.Text, want) {
			t.Errorf("%v, %v, not %q", h, err, want)
		}
	}
	held("")
	takes(k, true)
	held("") // but by us
	execute(t, conn, "SELECT pg_advisory_unlock_all()")
	class, number := k.numbers()
	execute(t, other, fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", class, number))
	takes(k, false)
	held(fmt.Sprintf(": SELECT pg_terminate_backend(%d)", other.PgConn().PID()))
	execute(t, other, fmt.Sprintf("SELECT pg_advisory_unlock_all(), pg_advisory_lock_shared(%d, %d)", class, number))
	takes(k, false)
	takes(Leadership(task, true), true)
	execute(t, conn, "SELECT pg_advisory_unlock_all()")
	name := "pre " + conn.Config().Database
	execute(t, other, fmt.Sprintf("SELECT pg_advisory_unlock_all(); BEGIN; SELECT pg_advisory_xact_lock(%d, %d); PREPARE TRANSACTION '%s'", class, number, name))
	takes(k, false)
	held(": ROLLBACK PREPARED '" + name + "'")
	execute(t, other, "ROLLBACK PREPARED '"+name+"'")
	takes(k, true)
}

// TestInstallWaitsForAnother that is at work in the same schema.
func TestInstallWaitsForAnother(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	k := creating(task.Schema)
	if has, err := k.Take(t.Context(), holder); err != nil || !has {
		t.Fatal(has, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	waiting := connect(t, dsn)
	if _, err := Install(ctx, waiting, task, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("did not wait: %v", err)
	}
	execute(t, holder, "SELECT pg_advisory_unlock_all()")
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
}
