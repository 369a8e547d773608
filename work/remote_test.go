package work

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/work/pool"
)

// TestRemoteServerStopped: a remote's server that stops cuts its tasks off, as ours does.
func TestRemoteServerStopped(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := play(t)
	id := s.add("input, remote", "SELECT pg_sleep(60)", own.DSN("postgres"))
	elsewhere := stageOn(t, own.DSN("postgres"))
	// The task is marked before that.
	elsewhere.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.eventually("1", "SELECT interrupted FROM task WHERE id = $1", id)
	if state := s.state(id); state == "FAIL" {
		t.Error(state)
	}
}

// TestARemoteThatIsLostAgainAndAgain: nobody knows whether the task has made it crash. So the task
// waits longer each time, and FAILs after the fifth.
func TestARemoteThatIsLostAgainAndAgain(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if fromClient && kind == 'Q' && strings.Contains(string(body), "break") {
			return proxy.Cut
		}
		return proxy.Pass
	})
	s := play(t)
	id := s.add("input, remote, runs", "/* break */ SELECT 1", p.DSN(s.dsn), `[{"cause": "lost"}, {"cause": "crash"}, {"cause": "lost"}, {"cause": "lost"}]`)
	s.becomes(id, "FAIL")
	const want = `{"attempt":2,"interrupted":2,"error":"ERROR:  task was interrupted\nDETAIL:  The connection to its remote was lost five times while it ran.","base":true}`
	if row := s.row(id, "attempt, interrupted, error, plan - base > '4 s' AS base"); row != want {
		t.Error(row)
	}
}

// TestRemoteCannotBePrepared: settings that the remote refuses are a failure, not an interruption.
func TestRemoteCannotBePrepared(t *testing.T) {
	t.Parallel()
	s := play(t)
	name := s.get("SELECT current_database()") + "_latin"
	s.exec("CREATE DATABASE " + name + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := connectTo(ctx, s.dsn)
		if err == nil {
			err = errors.Join(servertest.Drop(ctx, conn, name), conn.Close(ctx))
		}
		if err != nil {
			t.Error(err)
		}
	})
	id := s.add("input, data, remote", "SELECT 1", "€", "dbname="+name)
	s.becomes(id, "FAIL")
	if row := s.row(id, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

func (s *stage) clear(sql string) {
	ctx := context.WithoutCancel(s.t.Context())
	conn, err := connectTo(ctx, s.dsn)
	if err == nil {
		_, err = conn.Exec(ctx, sql)
		_ = conn.Close(ctx)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// TestClockOfARemote: the server's reading must lie between question and answer, and is corrected
// by no more than that needs.
func TestClockOfARemote(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	answered := asked.Add(30 * time.Millisecond)
	for _, c := range []struct{ before, reading, want time.Duration }{
		{0, 10 * time.Millisecond, 0},
		{0, 30 * time.Millisecond, 0},
		{0, -100 * time.Millisecond, 100 * time.Millisecond},
		{0, time.Hour, 30*time.Millisecond - time.Hour},
		{-time.Hour, time.Hour + 20*time.Millisecond, -time.Hour},
		{-time.Hour, time.Hour + 40*time.Millisecond, -time.Hour - 10*time.Millisecond},
	} {
		s := &pool.Session{Ahead: c.before}
		if s.Compare(asked.Add(c.reading), asked, answered); s.Ahead != c.want || s.Lag != 30*time.Millisecond {
			t.Errorf("%v before, %v read: %v, %v", c.before, c.reading, s.Ahead, s.Lag)
		}
	}
	stalled := new(pool.Session)
	if stalled.Compare(asked, asked, asked.Add(time.Minute)); stalled.Lag != time.Second {
		t.Error("of a network that has stalled: ", stalled.Lag)
	}
}

// TestDeferredOnARemote: a task that writes unexpectedly FAILs with the error of its COMMIT, and
// does not run again.
func TestDeferredOnARemote(t *testing.T) {
	t.Parallel()
	s := leading(t)
	s.exec("CREATE TABLE effect (id int8, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)")
	s.exec("CREATE FUNCTION writes() RETURNS void LANGUAGE sql AS $$INSERT INTO public.effect VALUES (1), (1)$$")
	id := s.add("input, remote", "SELECT writes()", s.dsn)
	s.becomes(id, "FAIL")
	if got := s.get("SELECT sqlstate || ' ' || attempt || ' ' || atomic || ' ' || (SELECT count(*) FROM effect) FROM task WHERE id = $1", id); got != "23505 1 true 0" {
		t.Error(got)
	}
}

// TestWritersOnARemote: a query that writes through a function, which nobody can know before, runs
// once each time, and never on trial.
func TestWritersOnARemote(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 2 })
	s.exec("CREATE SEQUENCE calls; CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION writes() RETURNS text LANGUAGE sql AS $$INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8); SELECT nextval('public.calls')::text$$")
	s.exec(`INSERT INTO task (input, remote, "group") SELECT 'SELECT writes()', $1, 'g' || i % 4 FROM generate_series(1, 100) AS i`, s.dsn)
	s.eventually("100", "SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1 AND atomic")
	if got := s.get("SELECT (SELECT count(DISTINCT id) FROM effect) || ' ' || (SELECT count(*) FROM effect) || ' ' || (SELECT last_value FROM calls)"); got != "100 100 100" {
		t.Error(got)
	}
}
