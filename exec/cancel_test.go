package exec

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestACancelMeetsItsOwnRunOrNone: at every moment of a run.
func TestACancelMeetsItsOwnRunOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 200 {
		task := spec("SELECT pg_sleep(0.002)")
		_, _, err := b.session.Begin(nil, task)
		if err != nil {
			t.Fatal(i, err)
		}
		cancelled := make(chan struct{})
		time.AfterFunc(time.Duration(i*25)*time.Microsecond, func() { b.session.Cancel(Stopped); close(cancelled) })
		result, err := b.session.Await(task)
		if err != nil {
			t.Fatal(i, err)
		}
		<-cancelled
		if result.Failure != nil && result.Reason != Stopped {
			t.Fatal(i, result.Failure)
		}
		b.end(result)
		after, _ := b.run(spec("SELECT 1"), nil)
		if after.Failure != nil {
			t.Fatalf("round %d: the cancel has met the next task: %v", i, after.Failure)
		}
		b.end(after)
	}
}

// TestACancelThatTheServerMissesIsRepeated: a server misses a cancel while it still reads the
// statement.
func TestACancelThatTheServerMissesIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task, request, sent := spec("SELECT pg_sleep(60)"), b.session.cancel.request, 0
	b.session.cancel.request = func(ctx context.Context) error {
		if sent++; sent < 3 {
			return nil
		}
		return request(ctx)
	}
	if _, _, err := b.session.Begin(nil, task); err != nil {
		t.Fatal(err)
	}
	b.session.Cancel(Stopped)
	result, err := b.session.Await(task)
	if err != nil || failure(result) != "57014" || result.Reason != Stopped {
		t.Errorf("%+v %v", result, err)
	}
	b.alive()
}

func TestCancelByOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := spec("SELECT pg_sleep(60)")
	_, _, err := b.session.Begin(nil, task)
	if err != nil {
		t.Fatal(err)
	}
	b.until("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", int32(b.session.PID))
	result, err := b.session.Await(task)
	if err != nil || failure(result) != "57014" || result.Reason != NotCancelled || result.Open {
		t.Errorf("%+v %v", result, err)
	}
	b.alive()
}

// TestACancelDuringPreparationLeavesNoUncommittedEffect: another user sends cancels all the time.
func TestACancelDuringPreparationLeavesNoUncommittedEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var pid atomic.Uint32
	pid.Store(b.session.PID)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = b.watch.Exec(ctx, "SELECT pg_cancel_backend($1)", int32(pid.Load()))
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	committed, failed := 0, 0
	count := func(v *Verdict) {
		if v != nil && v.Committed {
			committed++
		}
	}
	var tail *Tail
	for range 2000 {
		task := spec("INSERT INTO ends VALUES (1)")
		verdict, _, err := b.session.Begin(tail, task)
		count(verdict)
		tail = nil
		var result *Result
		if err == nil {
			result, err = b.session.Await(task)
		}
		switch {
		case err != nil: // a session whose preparation or rollback is cancelled is given up
			failed++
			b.session.Close()
			b.open()
			pid.Store(b.session.PID)
		case result.Open:
			tail = &Tail{}
		default:
			failed++
		}
	}
	cancel()
	<-done
	if tail != nil {
		verdict, err := b.session.End(tail)
		if err != nil {
			t.Fatal(err)
		}
		count(verdict)
	}
	looking, err := pgx.Connect(t.Context(), b.dsn) // the context of b.watch has ended
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close(t.Context())
	var rows int
	if err := looking.QueryRow(t.Context(), "SELECT count(*) FROM ends").Scan(&rows); err != nil || rows != committed || failed == 0 || committed == 0 {
		t.Errorf("%d effects, %d committed, %d failed, %v", rows, committed, failed, err)
	}
}
