package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
	"pgtaskd/server/servertest"
)

// bench is a session on a database of the test's own, and a connection to look on.
type bench struct {
	t       *testing.T
	dsn     string
	session *Session
	watch   *pgx.Conn
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dsn: servertest.Database(t)}
	b.watch = servertest.Connect(t, b.dsn)
	b.exec("CREATE TABLE ends (id int4, what text)")
	b.open()
	t.Cleanup(func() { b.session.Close() })
	return b
}

// open opens a session, in place of one that is gone.
func (b *bench) open() {
	b.t.Helper()
	cfg, err := pgconn.ParseConfig(b.dsn)
	if err != nil {
		b.t.Fatal(err)
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	if b.session, err = Connect(b.t.Context(), cfg, 10*time.Second, true, true); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	servertest.Exec(b.t, b.watch, sql, args...)
}

func (b *bench) get(sql string, args ...any) (text string) {
	b.t.Helper()
	return servertest.Get(b.t, b.watch, sql, args...)
}

// terminate ends the session, and waits until it is gone.
func (b *bench) terminate() {
	b.t.Helper()
	b.exec("SELECT pg_terminate_backend($1)", int32(b.session.PID))
	b.until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", int32(b.session.PID))
}

// until waits for a query to give t.
func (b *bench) until(sql string, args ...any) {
	b.t.Helper()
	servertest.Wait(b.t, 10*time.Second, sql, func() bool { return b.get(sql, args...) == "true" })
}

// spec is a task as the table's defaults make it. The names of its settings are those of all tasks
// of its session.
func spec(input string) *Task {
	examined := traits.Examine(input)
	return &Task{Input: input, Traits: examined, Atomic: examined.Atomic(), Settings: [][2]string{{"pg_task.id", "0"}}, Format: text.Format{Delimiter: '\t', Null: `\N`, Header: true, String: true}}
}

// TestAfterFailedPreparation: a task that could not be begun leaves nothing that the next one waits
// for.
func TestAfterFailedPreparation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{"VACUUM ends", "SELECT 1"} {
		odd, next := spec("SELECT 1"), spec(input)
		odd.Settings, next.Settings = [][2]string{{"work_mem", "much"}}, [][2]string{{"work_mem", "1MB"}}
		if _, _, err := b.session.Begin(nil, odd); err == nil {
			t.Fatal("such a setting is taken")
		}
		result, _ := b.run(next, nil)
		if result.Failure != nil {
			t.Error(input, result.Failure)
		}
		b.end(result)
	}
}

// run runs a task after another's tail.
func (b *bench) run(t *Task, tail *Tail) (*Result, *Verdict) {
	b.t.Helper()
	verdict, _, err := b.session.Begin(tail, t)
	if err != nil {
		b.t.Fatalf("%.200s: %v", t.Input, err)
	}
	result, err := b.session.Await(t)
	if err != nil {
		b.t.Fatalf("%.200s: %v", t.Input, err)
	}
	return result, verdict
}

// end commits what is open.
func (b *bench) end(result *Result) *Verdict {
	b.t.Helper()
	if !result.Open {
		return nil
	}
	verdict, err := b.session.End(&Tail{})
	if err != nil {
		b.t.Fatal(err)
	}
	return verdict
}

// rollback takes back what is open.
func (b *bench) rollback() {
	b.t.Helper()
	if err := b.session.Rollback(); err != nil {
		b.t.Fatal(err)
	}
}

// leftovers shows a row for whatever a task may have left in its session, in a transaction of its
// own: nothing, where its settings are those of spec.
const leftovers = `SELECT 'setting ' || name || ' ' || setting FROM pg_settings WHERE source = 'session' AND name NOT LIKE 'transaction\_%' AND name <> 'application_name'
	UNION ALL SELECT 'transaction ' || name || ' ' || setting FROM pg_settings WHERE name LIKE 'transaction\_%' AND setting NOT IN ('read committed', 'off', '0')
	UNION ALL SELECT 'limit ' || name FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') AND setting <> '0'
	UNION ALL SELECT 'prepared ' || name FROM pg_prepared_statements
	UNION ALL SELECT 'listens ' || pg_listening_channels()
	UNION ALL SELECT 'locks ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
	UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
	UNION ALL SELECT 'role ' || current_user WHERE current_user <> 'postgres' OR session_user <> 'postgres'
	UNION ALL SELECT 'temporary ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
	UNION ALL SELECT 'own setting' WHERE current_setting('my.own', true) <> ''`

// alive shows that the session takes the next task, and that nothing of the one before is left.
func (b *bench) alive() {
	b.t.Helper()
	b.aliveAfter(nil)
}

// aliveAfter commits the task before in the same flush.
func (b *bench) aliveAfter(tail *Tail) {
	b.t.Helper()
	result, verdict := b.run(spec(leftovers), tail)
	if output(result) != "<null>" || !result.Open || tail != nil && !verdict.Committed {
		b.t.Errorf("the session is not as new: %q, %v, %+v", output(result), result.Failure, verdict)
	}
	b.end(result)
	drawn, _ := b.run(spec("SELECT lastval()"), nil)
	if failure(drawn) != "55000" {
		b.t.Errorf("the session has drawn %s from a sequence", output(drawn))
	}
}

func output(r *Result) string {
	if r.Output == nil {
		return "<null>"
	}
	return *r.Output
}

func failure(r *Result) string { return code(r.Failure) }

func code(f *text.Failure) string {
	if f == nil {
		return ""
	}
	return f.SQLState
}

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
		if result.Failure == nil || !strings.HasPrefix(result.Failure.Text, "ERROR:  canceling statement due to statement timeout") {
			t.Errorf("%s: %v %v", input, result.Failure, result.Reason)
		}
		if took := time.Since(began); took > servertest.Limit(5*time.Second) {
			t.Errorf("%s took %s", input, took)
		}
		b.alive()
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
			continue // it has met BEGIN
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

// TestCancelAtAnyMoment: a cancel meets the run that it is for, or none.
func TestCancelAtAnyMoment(t *testing.T) {
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

// TestACancelThatTheServerMissesIsRepeated: as it does when it is still reading the statement.
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

// TestTerminatedWhileIdle: the next task is told, and has not started.
func TestTerminatedWhileIdle(t *testing.T) {
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

// TestTerminatedBeforeEnd: a transaction that waits for its end is known to be gone, with the
// server's word.
func TestTerminatedBeforeEnd(t *testing.T) {
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

// TestUnprepared: settings that the server does not take are the task's failure: a new session
// would not take them either.
func TestUnprepared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := spec("SELECT 1")
	task.Settings = [][2]string{{"DateStyle", "no such style"}}
	_, start, err := b.session.Begin(nil, task)
	var gone *Lost
	if err == nil || errors.As(err, &gone) || !start.IsZero() {
		t.Errorf("%T %v, want a *text.Failure", err, err)
	}
}

// TestKeepsNoLargeText: what a task shows goes with it.
func TestKeepsNoLargeText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	large := spec("SELECT length(current_setting('pg_task.data'))")
	large.Usual = Usual{{{"application_name", "a"}}, {{"pg_task.data", strings.Repeat("x", 1<<20)}}}
	result, _ := b.run(large, nil)
	if b.end(result); output(result) != "1048576" {
		t.Error(output(result))
	}
	kept := cap(b.session.setup.shown.texts)
	for _, value := range b.session.setup.shown.values[:cap(b.session.setup.shown.values)] {
		kept = max(kept, len(value))
	}
	if kept > textsKept {
		t.Error(kept, " bytes are kept")
	}
	b.alive()
}
