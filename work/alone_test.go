package work

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/inflight"
	"pgtaskd/work/pool"
)

// Tests of a task that comes when there is nothing else to do.

// TestAlone: the leader reads the task before it scans, and starts it if a session suits it.
func TestAlone(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 }) // nothing starts
	l := s.installed()
	s.exec("INSERT INTO task (input, plan) VALUES ('SELECT 1', 'infinity'), ('SELECT 1', statement_timestamp() + interval '1 hour')")
	comes := func(columns string, values ...any) (read *inflight.Task, started bool) {
		t.Helper()
		l.runs.Lanes.Forget()
		clear(l.tasks)
		l.leader.scan.Clear()
		s.exec("UPDATE task SET state = 'DONE' WHERE plan < now()")
		id := s.add(columns, values...)
		l.notices.Take(&pgconn.Notification{PID: 1}, "", 1)
		l.fallAsleep(t)
		if err := l.leader.rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if row, read := s.row(id, "state, attempt"), l.tasks[id] != nil; row != `{"state":"PLAN","attempt":0}` || read && l.leader.expects() {
			t.Fatal(row, read)
		}
		return l.tasks[id], l.leader.scan.Pending() // only a full scan leaves nothing pending
	}
	if read, started := comes("input", "SELECT 1"); read != nil || started {
		t.Error("it was read alone, and no session lies ready")
	}
	tasks, err := l.leader.prefetch.Read(t.Context(), []int64{s.add("input", "SELECT 1")})
	if err != nil || len(tasks) != 1 {
		t.Fatal(err)
	}
	l.runs.Pool.Put(&pool.Session{Session: &exec.Session{}, Need: pool.Need{Wishes: tasks[0].Row.Session}})
	defer l.runs.Pool.Stale(0)
	if read, started := comes("input", "SELECT 1"); read == nil || !started {
		t.Error("it was not started at once, or what else has come would not be looked for")
	}
	if read, started := comes("input, remote", "SELECT 1", s.dsn); read == nil || started {
		t.Error("it was started where no session suits it")
	}
	s.exec("ALTER DATABASE " + pgx.Identifier{s.get("SELECT current_database()")}.Sanitize() + " SET work_mem = '5MB'")
	if read, started := comes("input", "SELECT 1"); read == nil || started {
		t.Error("it was started in a session with settings of before")
	}
}

// TestAloneBarred: a task that was read alone when writes had been switched off waits again at
// once. A drain need not wait for it.
func TestAloneBarred(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // leaves a session ready
	s.asleep()
	s.exec("ALTER DATABASE " + pgx.Identifier{s.get("SELECT current_database()")}.Sanitize() + " SET default_transaction_read_only = on")
	id := s.add("input", "SELECT 1")
	s.until("told of it", func() bool { return strings.Contains(s.logged(), "default_transaction_read_only is on") })
	s.eventually("true", "SELECT state = 'PLAN' AND attempt = 0 FROM task WHERE id = $1", id)
	s.drain()
}

// TestForeignIsSeen: each scan and each read tells whether there are foreign servers.
func TestForeignIsSeen(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	s.exec("CREATE FOREIGN DATA WRAPPER there; CREATE SERVER there FOREIGN DATA WRAPPER there")
	if err := l.leader.scan.Begin(t.Context()); err != nil || !l.runs.Foreign.Load() {
		t.Error("a look has not seen it ", err)
	}
	l.runs.Foreign.Store(false)
	s.add("input", "SELECT 1")
	if _, err := l.leader.prefetch.Alone(t.Context()); err != nil || !l.runs.Foreign.Load() {
		t.Error("a read has not seen it ", err)
	}
}

// fallAsleep makes the loop sleep, so that INSERTs notify it.
func (l *loop) fallAsleep(t *testing.T) {
	t.Helper()
	if _, err := l.wake.FallAsleep(t.Context()); err != nil || l.wake.Awake() {
		t.Fatal("it stays awake: ", err)
	}
}

func (l *loop) tell(t *testing.T, sql string) {
	t.Helper()
	if _, err := l.control.Conn().Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
