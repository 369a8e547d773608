package exec

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

func TestTerminated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{"SELECT 1 AS a; SELECT pg_sleep(60)", "VACUUM; SELECT pg_sleep(60)"} {
		task := spec("SELECT 1 AS a; SELECT pg_sleep(60)")
		_, _, err := b.session.Begin(nil, task)
		if err != nil {
			t.Fatal(err)
		}
		b.until("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", int32(b.session.PID))
		result, err := b.session.Await(task)
		var gone *Lost
		if !errors.As(err, &gone) || gone.Fatal == nil || gone.Fatal.Code != "57P01" {
			t.Errorf("%s: %v", input, err)
		}
		if output(result) != "1" {
			t.Errorf("%s: output before the end: %q", input, output(result))
		}
		b.session.Close()
		b.open()
	}
}

// TestATaskOnASessionThatWasTerminatedWhileIdleHasNotBegun: Begin says so.
func TestATaskOnASessionThatWasTerminatedWhileIdleHasNotBegun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.alive()
	b.terminate()
	_, start, err := b.session.Begin(nil, spec("SELECT 1"))
	var gone *Lost
	if !errors.As(err, &gone) || !start.IsZero() {
		t.Error(start, err)
	}
}

// TestATransactionThatIsTerminatedBeforeItsEndIsLost: the error of a waiting transaction has the
// server's FATAL error.
func TestATransactionThatIsTerminatedBeforeItsEndIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	result, _ := b.run(spec("INSERT INTO ends VALUES (1)"), nil)
	b.terminate()
	verdict, err := b.session.End(&Tail{})
	var gone *Lost
	if !result.Open || verdict != nil || !errors.As(err, &gone) || gone.Fatal == nil {
		t.Errorf("%+v %v", verdict, err)
	}
}

// TestATaskOnASessionThatIsGoneHasNotBegun: the number of sent bytes or the server's last message
// proves this.
func TestATaskOnASessionThatIsGoneHasNotBegun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, guarded := range []bool{true, false} {
		for _, input := range []string{"INSERT INTO ends VALUES (1)", "VACUUM ends", "COPY ends FROM STDIN"} {
			b.terminate()
			next := spec(input)
			next.Guarded = guarded
			b.begins(next, true)
			b.open()
			b.session.Abandon()
			b.begins(next, true)
			b.open()
		}
	}
	if n := b.get("SELECT count(*) FROM ends"); n != "0" {
		t.Errorf("%s effects", n)
	}
}

// begins checks Unbegun of a task whose session is lost at its beginning.
func (b *bench) begins(task *Task, unbegun bool) {
	b.t.Helper()
	_, _, err := b.session.Begin(nil, task)
	if err == nil { // the answers to everything before the SQL have come
		_, err = b.session.Await(task)
	}
	lost := new(Lost)
	if !errors.As(err, &lost) || lost.Unbegun != unbegun {
		b.t.Errorf("%s, guarded %t: %+v", task.Input, task.Guarded, err)
	}
}

// TestATaskThatMayHaveBegunIsNotTakenForUnbegun: neither an answer that the network lost nor the
// end of a session in the middle of the SQL proves that the task has not begun.
func TestATaskThatMayHaveBegunIsNotTakenForUnbegun(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	b.open()
	var sent atomic.Bool
	p.Watch(func(_ int, fromClient bool, kind byte, _ []byte) proxy.Verdict {
		switch {
		case fromClient && kind == 'Q':
			sent.Store(true)
		case !fromClient && sent.Load():
			return proxy.Cut
		}
		return proxy.Pass
	})
	guarded := spec("INSERT INTO ends VALUES (1)")
	guarded.Guarded = true
	b.begins(guarded, false)
	p.Watch(nil)
	b.open()
	own := spec("SELECT pg_terminate_backend(pg_backend_pid())")
	if _, _, err := b.session.Begin(nil, own); err != nil {
		t.Fatal(err)
	}
	_, err := b.session.Await(own)
	if lost := new(Lost); !errors.As(err, &lost) || lost.Unbegun {
		t.Errorf("%+v", err)
	}
}

// TestAnIdleSessionThatIsGoneOrNotifiedIsGivenUp: Present and Answers return an error.
func TestAnIdleSessionThatIsGoneOrNotifiedIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	listens := spec("LISTEN word")
	listens.Save = true
	result, _ := b.run(listens, nil)
	if verdict := b.end(result); verdict == nil || !verdict.Committed {
		t.Fatalf("%+v", verdict)
	}
	if err := errors.Join(b.session.Present(), b.session.Answers(t.Context())); err != nil {
		t.Fatal(err)
	}
	b.exec("NOTIFY word")
	servertest.Wait(t, 10*time.Second, "word", func() bool { return b.session.Present() != nil })
	b.session.Close()
	b.open()
	b.terminate()
	if err := b.session.Present(); err == nil {
		t.Error("it is gone")
	}
	if err := b.session.Answers(t.Context()); err == nil {
		t.Error("it is gone, and answers")
	}
}
