package exec

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestATaskIsAskedBeforeItsSQLIsSent: Claim gets the id of the transaction. If Claim returns false,
// the task leaves nothing, and the session is as good as before.
func TestATaskIsAskedBeforeItsSQLIsSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var asked []int64
	claiming := func(input string, yes bool) *Task {
		task := spec(input)
		task.Claim = func(xact int64) bool {
			asked = append(asked, xact)
			if b.get("SELECT txid_status($1::int8)", xact) != "in progress" || b.get("SELECT state || ' ' || (query ~ 'ends') FROM pg_stat_activity WHERE pid = $1", int32(b.session.PID)) != "idle in transaction false" {
				t.Errorf("%s: asked with %d", input, xact)
			}
			return yes
		}
		return task
	}
	var tail *Tail
	committed := 0
	for _, input := range []string{"INSERT INTO ends VALUES (1)", "SELECT 1; INSERT INTO ends VALUES (1), (1)", "SELECT count(*) FROM ends", "SELECT 1", "SET statement_timeout TO 1000; LOCK TABLE ends IN SHARE ROW EXCLUSIVE MODE", "COPY ends FROM STDIN"} {
		before := b.get("SELECT count(*) FROM ends")
		verdict, _, err := b.session.Begin(tail, claiming(input, false))
		if !errors.Is(err, ErrUnclaimed) || tail != nil && !verdict.Committed || len(asked) == 0 {
			t.Fatalf("%s: %v %+v", input, err, verdict)
		}
		if tail != nil {
			committed++
		}
		if status := b.get("SELECT txid_status($1::int8)", asked[len(asked)-1]); status != "aborted" {
			t.Errorf("%s: a no has %s", input, status)
		}
		if after := b.get("SELECT count(*) FROM ends"); tail == nil && after != before {
			t.Errorf("%s: %s rows, before %s", input, after, before)
		}
		b.alive()
		result, _ := b.run(claiming(input, true), nil)
		if xact := asked[len(asked)-1]; input != "COPY ends FROM STDIN" && (!result.Open || result.Xact != xact && input != "SELECT 1") {
			t.Errorf("%s: it was %d, and runs in %d: %v", input, xact, result.Xact, result.Failure)
		}
		if tail = nil; result.Open {
			tail = &Tail{}
		}
	}
	if committed != 5 || b.get("SELECT count(*) FROM ends") != "3" || len(asked) != 12 || len(slices.Compact(slices.Sorted(slices.Values(asked)))) != len(asked) {
		t.Errorf("%d were committed, asked with %d", committed, asked)
	}
	b.alive()
}

// TestNoLimitEndsAClaim: neither the role's limit for an idle transaction nor our limit for the
// preparation.
func TestNoLimitEndsAClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = 100', current_database()); END$$")
	b.session.Close()
	b.open()
	b.session.wire.brief = 200 * time.Millisecond
	task := spec("INSERT INTO ends VALUES (1)")
	task.Claim = func(int64) bool { time.Sleep(400 * time.Millisecond); return true }
	result, _ := b.run(task, nil)
	time.Sleep(200 * time.Millisecond) // no limit ends the transaction after the question either
	if verdict := b.end(result); verdict == nil || !verdict.Committed {
		t.Errorf("%+v %v", verdict, result.Failure)
	}
}

// TestClaimsOfSessionsThatAreGone: if the session ends during a Claim, the task has not begun.
func TestClaimsOfSessionsThatAreGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := spec("INSERT INTO ends VALUES (1)")
	task.Claim = func(int64) bool { b.terminate(); return false }
	_, _, err := b.session.Begin(nil, task)
	if lost := new(Lost); !errors.As(err, &lost) || !lost.Unbegun {
		t.Errorf("%+v", err)
	}
	b.session.Close()
	b.open()
	task.Claim = func(int64) bool { b.terminate(); return true }
	_, _, err = b.session.Begin(nil, task)
	if err == nil {
		_, err = b.session.Await(task)
	}
	if !errors.As(err, new(*Lost)) || b.get("SELECT count(*) FROM ends") != "0" {
		t.Errorf("%+v", err)
	}
}
