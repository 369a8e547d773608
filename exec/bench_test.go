package exec

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// bench is a session in a database of its own, with a connection to watch that database.
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

// open replaces the session by a new one.
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

// until waits for a query to return true.
func (b *bench) until(sql string, args ...any) {
	b.t.Helper()
	servertest.Wait(b.t, 10*time.Second, sql, func() bool { return b.get(sql, args...) == "true" })
}

// spec makes a task with the table's defaults. All its tasks set the same names.
func spec(input string) *Task {
	examined := traits.Examine(input)
	return &Task{Input: input, Traits: examined, Atomic: examined.Atomic(), Settings: [][2]string{{"pg_task.id", "0"}}, Format: text.Format{Delimiter: '\t', Null: `\N`, Header: true, String: true}}
}

// run runs a task after the tail of the previous task.
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

// end commits the transaction, if it is open.
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

// rollback rolls back the open transaction.
func (b *bench) rollback() {
	b.t.Helper()
	if err := b.session.Rollback(); err != nil {
		b.t.Fatal(err)
	}
}

// leftovers returns a row for everything that another task has left in the session. As the input of
// a spec it returns no row in a clean session.
const leftovers = `SELECT 'setting ' || name || ' ' || setting FROM pg_settings WHERE source = 'session' AND name NOT LIKE 'transaction\_%' AND name <> 'application_name'
	UNION ALL SELECT 'transaction ' || name || ' ' || setting FROM pg_settings WHERE name LIKE 'transaction\_%' AND context = 'user' AND setting NOT IN ('read committed', 'off', '0')
	UNION ALL SELECT 'limit ' || name FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') AND setting <> '0'
	UNION ALL SELECT 'prepared ' || name FROM pg_prepared_statements
	UNION ALL SELECT 'listens ' || pg_listening_channels()
	UNION ALL SELECT 'locks ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
	UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
	UNION ALL SELECT 'role ' || current_user WHERE current_user <> 'postgres' OR session_user <> 'postgres'
	UNION ALL SELECT 'temporary ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
	UNION ALL SELECT 'own setting' WHERE current_setting('my.own', true) <> ''`

// alive checks that the session takes the next task, and that the previous task has left nothing.
func (b *bench) alive() {
	b.t.Helper()
	b.aliveAfter(nil)
}

// aliveAfter does the same, and commits the previous task in the same flush.
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

// newProxied makes a bench whose sessions go through a proxy. The caller opens the first session.
func newProxied(t *testing.T) (*bench, *proxy.Proxy) {
	t.Helper()
	b := newBench(t)
	b.session.Close()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	b.dsn = p.DSN(b.dsn)
	return b, p
}
