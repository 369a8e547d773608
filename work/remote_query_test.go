package work

import (
	"testing"
	"time"

	"pgtaskd/work/pool"
)

// TestRemoteQueries: what is known to be a short query runs in a transaction on a remote, without a
// mark; but not where an effect would not be seen, and no other task.
func TestRemoteQueries(t *testing.T) {
	t.Parallel()
	elsewhere := func(prepare string) string {
		s := prepared(t)
		s.exec(prepare)
		return s.dsn
	}
	plain, foreign := elsewhere("SELECT"), elsewhere("CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER other FOREIGN DATA WRAPPER nothing")
	s := leading(t, func(t *Target) { t.Run = 2 })
	s.exec(`INSERT INTO task ("group", remote, input, rerun, save)
		SELECT g, CASE g WHEN 'foreign' THEN $1 ELSE $2 END, CASE g WHEN 'write' THEN 'CREATE TEMP TABLE a ()' ELSE $3 END, g <> 'once', g = 'save'
		FROM unnest('{read,foreign,write,once,save}'::text[]) AS g, generate_series(1, 100) AS i`, foreign, plain, "SELECT current_setting('pg_task.id')")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE' OR output <> CASE \"group\" WHEN 'write' THEN 'CREATE TABLE' ELSE id::text END OR attempt > 1 OR start < plan OR stop < start")
	if got := s.get(`SELECT string_agg("group", ' ') FROM (SELECT DISTINCT "group" FROM task WHERE atomic) AS t`); got != "read" {
		t.Error("exactly once: ", got)
	}
	if ok := s.get(`SELECT count(*) >= 19 FROM task WHERE "group" IN ('read', 'once', 'save') AND NOT atomic AND start < (SELECT min(start) FROM task WHERE atomic)`); ok != "true" {
		t.Error("fewer than 20 have told what such queries are like")
	}
}

// TestClockOfARemote: what its server says lies between question and answer, and is moved no
// further than that.
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

// TestDeferredOnARemote: what is watched fails where its transaction cannot be committed, with that
// error, and is not run again.
func TestDeferredOnARemote(t *testing.T) {
	t.Parallel()
	s := leading(t)
	s.exec("CREATE TABLE effect (id int8, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)")
	s.exec("CREATE FUNCTION writes() RETURNS void LANGUAGE sql AS $$INSERT INTO public.effect VALUES (1), (1)$$")
	id := s.add("input, remote", "SELECT writes()", s.dsn)
	s.becomes(id, "FAIL")
	if got := s.get("SELECT sqlstate || ' ' || attempt || ' ' || atomic || ' ' || (SELECT count(*) FROM effect) FROM task WHERE id = $1", id); got != "23505 1 false 0" {
		t.Error(got)
	}
}

// TestWritersOnARemote: a query that writes by a function it calls, which cannot be known before,
// is run once each time, and not on trial.
func TestWritersOnARemote(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 2 })
	s.exec("CREATE SEQUENCE calls; CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION writes() RETURNS text LANGUAGE sql AS $$INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8); SELECT nextval('public.calls')::text$$")
	s.exec(`INSERT INTO task (input, remote, "group") SELECT 'SELECT writes()', $1, 'g' || i % 4 FROM generate_series(1, 100) AS i`, s.dsn)
	s.eventually("100", "SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1 AND NOT atomic")
	if got := s.get("SELECT (SELECT count(DISTINCT id) FROM effect) || ' ' || (SELECT count(*) FROM effect) || ' ' || (SELECT last_value FROM calls)"); got != "100 100 100" {
		t.Error(got)
	}
}
