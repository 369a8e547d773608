package exec

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
	"pgtaskd/major"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

func TestTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{
		"SELECT pg_sleep(60)",
		"SET statement_timeout = 0; SELECT pg_sleep(60)",
		"SELECT pg_sleep(0.15); SELECT pg_sleep(0.15); SELECT pg_sleep(0.15)",
		"COMMIT; SELECT pg_sleep(60)",
	} {
		task := spec(input)
		task.Timeout = 200 * time.Millisecond
		began := time.Now()
		result, _ := b.run(task, nil)
		if result.Failure == nil || !strings.HasPrefix(result.Failure.Text, "ERROR:  canceling statement due to statement timeout\nDETAIL:  The task's timeout of 200 ms has passed.\n") {
			t.Errorf("%s: %v %v", input, result.Failure, result.Reason)
		}
		if took := time.Since(began); took > servertest.Limit(5*time.Second) {
			t.Errorf("%s took %s", input, took)
		}
		b.alive()
	}
}

// TestTheTimeoutOfAnotherIsNotTheTasks: the error says so, if the task has a timeout of its own or
// none.
func TestTheTimeoutOfAnotherIsNotTheTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for input, timeout := range map[string]time.Duration{
		"SET statement_timeout = 100; SELECT pg_sleep(60)":         time.Minute,
		"COMMIT; SET statement_timeout = 100; SELECT pg_sleep(60)": 0,
	} {
		if !major.StatementTimeout.Of(b.watch) && timeout > 0 {
			continue
		}
		task := spec(input)
		task.Timeout = timeout
		result, _ := b.run(task, nil)
		if result.Failure == nil || !strings.HasPrefix(result.Failure.Text, "ERROR:  canceling statement due to statement timeout\nDETAIL:  This is not the task's timeout") {
			t.Errorf("%s: %v", input, result.Failure)
		}
		b.alive()
	}
	task := spec("DO $$ BEGIN PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(60); END $$")
	if result, _ := b.run(task, nil); result.Failure == nil || strings.Contains(result.Failure.Text, "DETAIL") {
		t.Errorf("%v", result.Failure)
	}
}

// TestATimeoutIsKnownInEachLanguage: by the time that the run took, if the server itself has ended it
// and its message does not tell.
func TestATimeoutIsKnownInEachLanguage(t *testing.T) {
	t.Parallel()
	const german, english = "storniere Anfrage wegen Zeitüberschreitung der Anfrage", "canceling statement due to user request"
	for _, c := range []struct {
		message, routine string
		took             time.Duration
		reason           Reason
		is               bool
	}{
		{german, "ProcessInterrupts", 200 * time.Millisecond, NotCancelled, true},
		{german, "ProcessInterrupts", 100 * time.Millisecond, NotCancelled, false},
		{german, "ProcessInterrupts", 200 * time.Millisecond, Stopped, false},
		{german, "exec_stmt_raise", 200 * time.Millisecond, NotCancelled, false},
		{english, "ProcessInterrupts", 200 * time.Millisecond, NotCancelled, false},
	} {
		r := &Result{Raw: &pgproto3.ErrorResponse{Severity: "FEHLER", Code: queryCanceled, Message: c.message, Routine: c.routine}, Reason: c.reason}
		task := spec("SELECT 1")
		task.Timeout = 200 * time.Millisecond
		r.explain(task, nil, c.took)
		if is := strings.Contains(r.Failure.Text, "The task's timeout of 200 ms has passed."); is != c.is {
			t.Errorf("%+v: %s", c, r.Failure.Text)
		}
	}
}

func TestLongestTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, timeout := range []time.Duration{1, time.Microsecond, 1<<31*time.Millisecond - 1, 1 << 31 * time.Millisecond, 1<<63 - 1} {
		task := spec("SELECT 1")
		task.Timeout = timeout
		verdict, _, err := b.session.Begin(nil, task)
		if early := new(text.Failure); errors.As(err, &early) && early.SQLState == "57014" && timeout < time.Second {
			continue // the limit has ended BEGIN
		}
		if err != nil {
			t.Errorf("timeout %s: %v %v", timeout, verdict, err)
			b.open()
			continue
		}
		result, err := b.session.Await(task)
		if err != nil || timeout > time.Second && result.Failure != nil {
			t.Errorf("timeout %s: %v %v", timeout, result.Failure, err)
		}
		b.end(result)
	}
}

// TestTransactionTimeoutOfAnother: a chained transaction starts before the reset of the limit that
// the previous task has set.
func TestTransactionTimeoutOfAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if b.get("SELECT current_setting('transaction_timeout', true)") == servertest.Null {
		return // before PostgreSQL 17
	}
	for _, base := range []string{"0", "1h"} {
		b.exec("DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET transaction_timeout = %L', current_database(), '" + base + "'); END$$")
		b.session.Close()
		b.open()
		_, _ = b.run(spec("SET transaction_timeout = '100 ms'"), nil)
		second, _ := b.run(spec("SELECT pg_sleep(0.3)"), &Tail{})
		if second.Failure != nil {
			t.Error(base, second.Failure)
		}
		b.end(second)
	}
}

// slowdown delays one message to the server, counted from a task whose SQL sets a limit.
type slowdown struct {
	mu     sync.Mutex
	number int // of the message to delay
	passed int
}

func (d *slowdown) watch(_ int, fromClient bool, _ byte, _ []byte) proxy.Verdict {
	d.mu.Lock()
	if fromClient {
		d.passed++
	}
	met := fromClient && d.passed == d.number
	d.mu.Unlock()
	if met {
		time.Sleep(3 * limitSet)
	}
	return proxy.Pass
}

func (d *slowdown) begin(number int) (passed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	passed = d.passed
	d.number, d.passed = number, 0
	return passed
}

// limitSet is longer than a busy machine takes for a statement of ours.
const limitSet = 20 * time.Millisecond

// TestLimitsThatATaskSets: they end no other task, at whatever point the time runs out. The task
// that sets a limit has an effect only if its transaction is committed.
func TestLimitsThatATaskSets(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout", "lock_timeout", "transaction_timeout"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			b, p := newProxied(t)
			delay := &slowdown{}
			p.Watch(delay.watch)
			b.open()
			if b.get("SELECT current_setting($1, true) IS NULL", limit) == "true" {
				return // before PostgreSQL 17
			}
			sets := fmt.Sprintf("INSERT INTO ends VALUES (1); SET %s TO '%s'", limit, limitSet)
			for number, last := 0, 1; number <= last; number++ {
				b.exec("TRUNCATE ends")
				delay.begin(number)
				xact := b.lane(sets, "INSERT INTO ends VALUES (2)", "SELECT 3", "SELECT count(*) FROM ends", "INSERT INTO ends VALUES (4)")
				if passed := delay.begin(0); number == 0 {
					last = passed
				}
				want := "2 4"
				if xact != 0 && b.get("SELECT txid_status($1::int8)", xact) == "committed" {
					want = "1 2 4"
				}
				if got := b.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM ends"); got != want || number == 0 && xact == 0 {
					t.Errorf("message %d of %d: %s, not %s", number, last, got, want)
				}
			}
		})
	}
}

// lane runs inputs one after the other, and returns the transaction of the first, if the question
// was answered. It repeats an input that is lost before it has begun. Only the first input may
// fail.
func (b *bench) lane(inputs ...string) (first int64) {
	b.t.Helper()
	var tail *Tail
	for i := 0; i < len(inputs); i++ {
		task := spec(inputs[i])
		verdict, _, err := b.session.Begin(tail, task)
		if tail != nil && i > 1 && (verdict == nil || !verdict.Committed) {
			b.t.Fatalf("%s: %+v %v", inputs[i-1], verdict, err)
		}
		tail = nil
		var result *Result
		lost := new(Lost)
		if err == nil {
			result, err = b.session.Await(task)
		}
		switch {
		case errors.As(err, &lost) && (lost.Unbegun || i == 0):
			b.session.Close()
			b.open()
			if i > 0 {
				i--
			}
			continue
		case err != nil || i > 0 && !result.Open:
			b.t.Fatalf("%s: %v %+v", inputs[i], err, result)
		case result.Open:
			tail = &Tail{}
		}
		if i == 0 {
			first = result.Xact
		}
	}
	if verdict := b.end(&Result{Open: true}); !verdict.Committed {
		b.t.Errorf("%+v", verdict)
	}
	return first
}
