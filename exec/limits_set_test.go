package exec

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgtaskd/server/proxy"
)

// slowdown delays one message on the way to the server, counted from the task whose SQL sets a
// limit.
type slowdown struct {
	mu     sync.Mutex
	counts bool
	number int // of the message that is delayed
	passed int
}

func (d *slowdown) watch(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
	d.mu.Lock()
	if fromClient && d.counts {
		d.passed++
	}
	met := fromClient && d.counts && d.passed == d.number
	d.mu.Unlock()
	if met {
		time.Sleep(3 * limitSet)
	}
	return proxy.Pass
}

func (d *slowdown) begin(number int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts, d.number, d.passed = true, number, 0
}

func (d *slowdown) end() (passed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts = false
	return d.passed
}

// limitSet is longer than what a busy machine takes for a statement of ours.
const limitSet = 20 * time.Millisecond

// TestLimitsThatAFunctionSets: a limit that a function has set in its session is met by nothing
// that we ask there, wherever the time runs out: each task of that session does its work once.
func TestLimitsThatAFunctionSets(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout", "lock_timeout"} {
		for name, input := range map[string]string{"query": "SELECT limits()", "write": numberedEffect + "SELECT limits()", "temporary": "CREATE TEMP TABLE a (); " + numberedEffect + "SELECT limits()"} {
			t.Run(limit+" "+name, func(t *testing.T) {
				t.Parallel()
				b, p := newProxied(t)
				delay := &slowdown{}
				p.Watch(delay.watch)
				b.open()
				if b.get("SELECT current_setting($1, true) IS NULL", limit) == "true" {
					t.Skip("the server has no ", limit)
				}
				b.exec("CREATE TABLE effects (id int8); CREATE TABLE ended (id int8)")
				b.exec(fmt.Sprintf("CREATE FUNCTION limits() RETURNS int4 LANGUAGE sql AS $$SELECT 1 FROM set_config('%s', '%d', false)$$", limit, limitSet/time.Millisecond))
				last := 3
				for number := 0; number <= last; number += 3 {
					b.title, b.forgot = fmt.Sprint("message ", number), 0
					b.exec("TRUNCATE effects, ended")
					b.queue(numbered(1, numberedEffect))
					delay.begin(number)
					b.queue(numbered(2, input), numbered(3, "SELECT 3"), numbered(4, numberedEffect), numbered(5, "SELECT count(*) FROM ends"), numbered(6, numberedEffect))
					passed := delay.end()
					switch {
					case number == 0 && (limit == "statement_timeout" || limit == "idle_in_transaction_session_timeout"):
						last = passed
					case number == 0:
						last = 0
					}
					want := "1 2 4 6"
					if name == "query" {
						want = "1 4 6"
					}
					for _, table := range []string{"effects", "ended"} {
						if got := b.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM " + table + " WHERE id IN (SELECT id FROM effects)"); got != want {
							t.Errorf("%s: %s %s", b.title, table, got)
						}
					}
				}
			})
		}
	}
}

// TestLimitsThatAFunctionSetsInAPipeline: those behind it run all the same.
func TestLimitsThatAFunctionSetsInAPipeline(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	delay := &slowdown{}
	p.Watch(delay.watch)
	b.open()
	b.exec(fmt.Sprintf("CREATE FUNCTION limits() RETURNS int4 LANGUAGE sql AS $$SELECT 1 FROM set_config('statement_timeout', '%d', false)$$", limitSet/time.Millisecond))
	for number, last := 0, 3; number <= last; number += 2 {
		b.forgot = 0
		delay.begin(number)
		for left := []*Task{numbered(1, "SELECT 1"), numbered(2, "SELECT limits()"), numbered(3, "SELECT 3"), numbered(4, "SELECT count(*) FROM ends")}; len(left) > 0; {
			left = left[b.flyOnce(left):]
		}
		if passed := delay.end(); number == 0 {
			last = passed
		}
	}
}

// flyOnce sends all of them at once, and tells how many have run. One that must run alone does so.
func (b *bench) flyOnce(tasks []*Task) (ran int) {
	b.t.Helper()
	for _, task := range tasks {
		task.Until = time.Now().Add(time.Hour)
	}
	if _, _, err := b.session.Begin(nil, tasks[0], tasks[1:]...); err != nil {
		b.t.Fatal(err)
	}
	for i, task := range tasks {
		result, err := b.session.Await(task)
		switch {
		case err != nil:
			b.t.Fatal(err)
		case result.Alone || result.Forgot:
			if i > 0 && b.session.Behind() > 0 {
				b.t.Fatal("there are some behind")
			}
			b.queue(task)
			return i + 1
		case result.Failure != nil:
			b.t.Fatal(task.Input, result.Failure)
		case b.session.Behind() == 0:
			b.end(result, "")
			return i + 1
		}
		if verdict, _, begun, err := b.session.Next(); err != nil || !begun && verdict != nil && !verdict.Committed && !verdict.Forgot {
			b.t.Fatal(err, verdict)
		} else if !begun && (verdict == nil || verdict.Committed) {
			return i + 1
		} else if !begun {
			return i
		}
	}
	return len(tasks)
}

// cutOff tells that a limit has ended the session. The proxy may lose the server's last words.
func cutOff(err error) bool {
	lost := new(Lost)
	return errors.As(err, &lost) && (lost.Limited || lost.Fatal == nil && !lost.Broken)
}

// queue runs tasks one behind the other as a runner does. What has met a limit is run once more, on
// another session if that one is gone.
func (b *bench) queue(tasks ...*Task) {
	b.t.Helper()
	var before *Task
	var tail *Tail
	again := func(task *Task, why any) {
		b.t.Helper()
		if b.forgot++; b.forgot == 6 { // on a busy machine the time may pass by itself
			b.t.Fatalf("%s: %s is to be run again and again: %v", b.title, task.Input, why)
		}
		task.Wary = true
		if b.session.conn.IsClosed() || b.session.Present() != nil {
			b.session.Close()
			b.open()
		}
		b.queue(task)
	}
	for i := 0; i < len(tasks); i++ {
		task := tasks[i]
		verdict, _, err := b.session.Begin(tail, task)
		lost := new(Lost)
		if tail != nil && (verdict == nil || !verdict.Committed) {
			if verdict == nil && !cutOff(err) || verdict != nil && !verdict.Forgot {
				b.t.Fatalf("%s: %s: %v %+v", b.title, before.Input, err, verdict)
			}
			defer again(before, err)
		}
		tail = nil
		if errors.As(err, &lost) && lost.Unbegun {
			b.session.Close()
			b.open()
			i--
			continue
		}
		var result *Result
		if err == nil {
			result, err = b.session.Await(task)
		}
		switch {
		case cutOff(err):
			b.session.Close()
			b.open()
			defer again(task, err)
			continue
		case err != nil:
			b.t.Fatalf("%s: %s: %v", b.title, task.Input, err)
		case result.Forgot:
			defer again(task, result.Failure)
			continue
		case result.Failure != nil:
			b.t.Fatalf("%s: %s: %v", b.title, task.Input, result.Failure)
		}
		tail, before = b.ending(task, result), task
	}
	if tail == nil {
		return
	}
	switch verdict, err := b.session.End(tail); {
	case cutOff(err):
		b.session.Close()
		b.open()
		again(before, err)
	case err != nil:
		b.t.Fatalf("%s: %s: %v", b.title, before.Input, err)
	case verdict.Forgot:
		again(before, verdict.Refused)
	case !verdict.Committed:
		b.t.Fatalf("%s: %s: %+v", b.title, before.Input, verdict)
	}
}

// TestModesThatAFunctionSets: what makes the session ready for the next task waits for nobody, as a
// DEFERRABLE transaction would.
func TestModesThatAFunctionSets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION modes() RETURNS text LANGUAGE sql AS $$SELECT set_config('default_transaction_isolation', 'serializable', false)
		|| set_config('default_transaction_read_only', 'on', false) || set_config('default_transaction_deferrable', 'on', false)$$`)
	writer, err := b.watch.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Rollback(t.Context()) }()
	if _, err := writer.Exec(t.Context(), "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; INSERT INTO ends VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	for _, next := range []string{"SELECT 1", "VACUUM ends", "SELECT count(*) FROM ends"} {
		result, _ := b.run(spec("SELECT modes()"), nil)
		b.end(result, "")
		if err := b.session.Reset(); err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{"SELECT modes()", "SELECT modes()::int", next} {
			result, _ = b.run(spec(input), nil)
			if result.Failure != nil && input == next {
				t.Fatal(result.Failure)
			}
			b.end(result, "")
		}
	}
}

// TestErrorsThatEndTheSession: where a task has left exit_on_error, the one behind it fails by its
// own error all the same, and the next has not begun.
func TestErrorsThatEndTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION exits() RETURNS text LANGUAGE sql AS $$SELECT set_config('exit_on_error', 'on', false)$$")
	for _, input := range []string{"SELECT 1/0", "INSERT INTO ends VALUES (1/0)", "SELECT count(*) / 0 FROM ends"} {
		b.run(spec("SELECT exits()"), nil)
		result, verdict := b.run(spec(input), &Tail{})
		if failure(result) != "22012" || verdict == nil || !verdict.Committed {
			t.Error(input, result.Failure, verdict)
		}
		lost := new(Lost)
		if _, _, err := b.session.Begin(nil, spec("SELECT 1")); err != nil && !(errors.As(err, &lost) && lost.Unbegun) {
			t.Error(input, err)
		}
		b.session.Close()
		b.open()
	}
}
