package work

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"pgtask/server"
	"pgtask/server/servertest"
)

func (s *stage) rows(columns string) string {
	return s.get("SELECT json_agg(t) FROM (SELECT id, state, " + columns + " FROM task ORDER BY id LIMIT 10) t")
}

func TestOldOddInterval(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	s.add("input, live", "SELECT 1", "178000000 years")
	s.exec("RESET session_replication_role")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
}

func TestRemoteUnpreparable(t *testing.T) {
	t.Parallel()
	s := play(t)
	name := s.get("SELECT current_database()") + "_l"
	s.exec("CREATE DATABASE " + name + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		c := s.connect2()
		c.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		c.Close(context.Background())
	})
	id := s.add("input, data, remote, timeout", "SELECT 1", "€", "dbname="+name, "10 s")
	defer func() { t.Log(s.rows("error, attempt, interrupted")) }()
	s.becomes(id, "DONE", "FAIL")
}

func TestCopyFromStdout(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE x (a text)")
	id := s.add("input", "COPY public.x FROM STDOUT")
	defer func() { t.Log(s.rows("error, attempt, interrupted")) }()
	s.becomes(id, "DONE", "FAIL")
}

func TestDeleteLocked(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, "group"`, "CREATE TABLE y ()", "a")
	_ = odd
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	odd = s.add(`input, "group"`, "DO $$BEGIN PERFORM pg_sleep(0.5); END$$", "a")
	s.becomes(odd, "WORK")
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// a foreign key's check of someone's insert: a lock that lets updates pass
	if _, err := tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR KEY SHARE", odd); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(0.7)")
	began := time.Now()
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	if d := time.Since(began); d > time.Second {
		t.Errorf("other task waited %s", d)
	}
	s.exec("SELECT pg_sleep(2.5)")
	tx.Rollback(t.Context())
	s.becomes(odd, "")
}

func TestStopLocked(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, "group"`, "SELECT pg_sleep(60)", "a")
	s.becomes(odd, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", odd)
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR UPDATE", odd); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(0.5)")
	began := time.Now()
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	if d := time.Since(began); d > time.Second {
		t.Errorf("other task waited %s", d)
	}
}

func TestDrainScanSpin(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), Target{Sleep: time.Second, Reset: time.Hour, Run: 1, Grace: time.Minute}, zerologNop())
	l.control = &control{}
	l.look.spoke, l.look.scan, l.look.full = time.Now(), time.Now(), time.Now()
	l.scanning.active = true
	l.look.draining = time.Now()
	if err := l.rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := l.doze(); d == 0 {
		t.Error("spins")
	}
}

func TestSessionsForgotten(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, count) SELECT 'SELECT 1', 1 FROM generate_series(1, 300)")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Log("heap", m.HeapAlloc)
	s.exec("INSERT INTO task (input, count) SELECT 'SELECT 1', 1 FROM generate_series(1, 300)")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	t.Log("heap", m.HeapAlloc)
}

func TestDrainOutside(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = 0 })
	s.exec("CREATE SEQUENCE q")
	id := s.add("input, rerun", "SELECT nextval('q'); SELECT pg_sleep(60)", false)
	s.becomes(id, "WORK")
	s.drain()
	t.Log(s.rows("error, attempt, interrupted, atomic"))
	if state := s.state(id); state != "FAIL" {
		t.Error(state)
	}
}

func TestQuickOutside(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE SEQUENCE q")
	id := s.add("input, rerun", "SELECT nextval('q'); DELETE FROM task WHERE id = current_setting('pg_task.id')::int8", false)
	s.becomes(id, "FAIL")
	t.Log(s.rows("error, attempt, interrupted, atomic"))
	if n := s.get("SELECT last_value FROM q"); n != "1" {
		t.Error("ran times:", n)
	}
}

func TestRepetitionRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, repeat, key`, "SELECT pg_sleep(0.5)", "1 day", "k")
	s.becomes(odd, "WORK")
	s.add(`input, key, plan`, "SELECT 1", "k", "infinity")
	defer func() { t.Log(s.rows("error, attempt, interrupted")) }()
	s.becomes(odd, "DONE", "FAIL")
}

func TestExpireRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, active, plan, repeat, key) SELECT 'SELECT 1', '1 s', now() - interval '1 hour', '1 day', g::text FROM generate_series(1, 1) g")
	s.becomes(1, "GONE")
	s.exec(`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.state = 'GONE' THEN RAISE 'not this one'; END IF; RETURN NEW; END$$`)
	s.exec(`CREATE TRIGGER no BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION no()`)
	s.exec("INSERT INTO task (input, active, plan) SELECT 'SELECT 1', '1 s', now() - interval '1 hour'  FROM generate_series(1, 3) g")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	s.exec("SELECT pg_sleep(3)")
	t.Log(s.logged())
}

func TestUserTriggerPath(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE audit (id int8)")
	s.exec(`CREATE FUNCTION au() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO audit VALUES (NEW.id); RETURN NULL; END$$`)
	s.exec(`CREATE TRIGGER au AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION au()`)
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
}

func TestSaveReadOnly(t *testing.T) {
	t.Parallel()
	s := play(t)
	a := s.add("input, save", "SET default_transaction_read_only = on", true)
	b := s.add("input, save", "SELECT 2", true)
	s.becomes(a, "DONE", "FAIL")
	s.becomes(b, "DONE", "FAIL")
	t.Log(s.rows("error, attempt, interrupted"))
}

func TestSaveEncoding(t *testing.T) {
	t.Parallel()
	s := play(t)
	a := s.add("input, save", "SET client_encoding = LATIN1", true)
	b := s.add("input, save", "SELECT length('€'), 'é'", true)
	s.becomes(a, "DONE", "FAIL")
	s.becomes(b, "DONE", "FAIL")
	t.Log(s.rows("error, attempt, interrupted, output"))
}

func TestTableLocked(t *testing.T) {
	t.Parallel()
	s := play(t)
	a := s.add(`input, "group"`, "SELECT pg_sleep(1)", "a")
	s.becomes(a, "WORK")
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE task"); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(6)")
	tx.Rollback(t.Context())
	b := s.add("input", "SELECT 2")
	s.becomes(a, "DONE")
	s.becomes(b, "DONE")
	t.Log(s.rows("error, attempt, interrupted, runs"))
}

func TestCrashLoop(t *testing.T) {
	own := servertest.New(t, server.Options{Settings: map[string]string{"restart_after_crash": "on"}})
	s := &stage{t: t, dsn: own.DSN("postgres")}
	s.target = targetOf(t, s.dsn)
	s.conn = s.connect()
	s.serve()
	s.settled()
	s.add("input", "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'")
	s.add(`input, "group"`, "SELECT pg_sleep(3)", "b")
	time.Sleep(8 * time.Second)
	for i := 0; i < 20; i++ {
		c := s.connect2()
		var x string
		if c != nil {
			err := c.QueryRow(context.Background(), "SELECT json_agg(t)::text FROM (SELECT id, state, attempt, interrupted, error FROM task) t").Scan(&x)
			if err == nil {
				t.Log(x)
				break
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	s.t.Log(s.logged())
}

func TestRemoteShutdown(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := play(t)
	id := s.add("input, remote, timeout", "SELECT pg_sleep(60)", own.DSN("postgres"), "100 s")
	s.becomes(id, "WORK")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(1)")
	t.Log(s.rows("error, attempt, interrupted, runs"))
	if s.state(id) == "FAIL" {
		t.Error("FAIL")
	}
}

func TestDrainServerDown(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := &stage{t: t, dsn: own.DSN("postgres")}
	s.target = targetOf(t, s.dsn)
	s.conn = s.connect()
	s.serve()
	s.settled()
	id := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	signal.Ignore(syscall.SIGUSR2)
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	close(s.stop)
	before := len(s.logged())
	var a, b syscall.Rusage
	syscall.Getrusage(0, &a)
	time.Sleep(2 * time.Second)
	syscall.Getrusage(0, &b)
	fmt.Fprintln(os.Stderr, "cpu", time.Duration(b.Utime.Nano()-a.Utime.Nano()+b.Stime.Nano()-a.Stime.Nano()), "log bytes", len(s.logged())-before)
}
