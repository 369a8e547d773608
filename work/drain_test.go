package work

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/work/pool"
)

// TestDrain: running tasks go on for the grace period, waiting tasks stay, and cancelled tasks run
// again.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Second })
	short := s.add(`input, "group"`, "SELECT pg_sleep(0.5)", "a")
	long := s.add(`input, "group"`, "SELECT pg_sleep(60)", "b")
	s.becomes(short, "WORK")
	s.becomes(long, "WORK")
	behind := s.add(`input, "group"`, "SELECT 1", "a")
	s.drain()
	if states := s.state(short) + " " + s.state(long) + " " + s.state(behind); states != "DONE PLAN PLAN" || s.err != nil {
		t.Error(states, s.err)
	}
	if row := s.row(long, "attempt, interrupted, pid, start"); row != `{"attempt":0,"interrupted":0,"pid":null,"start":null}` {
		t.Error(row)
	}
	if ok := s.get(`SELECT jsonb_array_length(runs) = 1 AND runs -> 0 ->> 'cause' = 'drained' AND runs -> 0 ->> 'state' = 'WORK'
		AND (runs -> 0 ->> 'stop')::timestamptz - (runs -> 0 ->> 'start')::timestamptz >= '1 s' AND runs -> 0 ->> 'pid' IS NOT NULL FROM task WHERE id = $1`, long); ok != "true" {
		t.Error(s.row(long, "runs"))
	}
	if runs := s.row(behind, "runs"); runs != `{"runs":null}` {
		t.Error("of a task that has not run: ", runs)
	}
	s.tellsOfTheDrain(short, long)
}

// tellsOfTheDrain checks which tasks the log says the drain waited for, and which it cancelled.
func (s *stage) tellsOfTheDrain(short, long int64) {
	s.t.Helper()
	var waits, cancels []int64
	for text := range strings.Lines(s.logged()) {
		var line struct {
			Waits   []int64 `json:"waits_for"`
			Cancels []int64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatal(err)
		}
		waits, cancels = append(waits, line.Waits...), append(cancels, line.Cancels...)
	}
	if !slices.Equal(waits, []int64{short, long}) || !slices.Equal(cancels, []int64{long}) {
		s.t.Errorf("waits for %v, cancels %v", waits, cancels)
	}
}

// TestDrainNeverTwice: a task with rerun = false that is not exactly once FAILs when a drain cuts
// it off.
func TestDrainNeverTwice(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = 0 })
	s.exec("CREATE SEQUENCE mails")
	id := s.add("input, rerun", "SELECT nextval('mails'); SELECT pg_sleep(60)", false)
	s.becomes(id, "WORK")
	s.drain()
	if state := s.state(id); state != "FAIL" {
		t.Error(state)
	}
}

// TestNeverTwice: a task with rerun = false does not run again when its end could not be written.
func TestNeverTwice(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE SEQUENCE mails")
	id := s.add("input, rerun", "SELECT nextval('mails'); DELETE FROM task WHERE id = current_setting('pg_task.id')::int8", false)
	s.becomes(id, "FAIL")
	if n := s.get("SELECT last_value FROM mails"); n != "1" {
		t.Error("it ran more than once: ", n)
	}
}

// TestDrainWhileAnotherLeads: running tasks are cancelled when the grace period is over.
func TestDrainWhileAnotherLeads(t *testing.T) {
	t.Parallel()
	s := furnished(t, func(t *Target) { t.Grace = time.Second })
	key, rival, holds := s.leaderKey(), s.connect(), make(chan error, 1)
	s.serve()
	s.becomes(s.add("input", "SELECT pg_sleep(60)"), "WORK")
	go func() {
		_, err := rival.Exec(context.WithoutCancel(t.Context()), "SELECT pg_advisory_lock("+key+")")
		holds <- err
	}()
	s.eventually("1", "SELECT count(*) FROM pg_locks WHERE pid = $1 AND NOT granted", rival.PgConn().PID())
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'pgtaskd %' AND datname = current_database()")
	if err := <-holds; err != nil {
		t.Fatal(err)
	}
	s.says("standing by")
	began := time.Now()
	s.drain()
	if took := time.Since(began); took > servertest.Limit(5*time.Second) || s.err != nil {
		t.Error("it takes ", took, ": ", s.err)
	}
	s.quiet()
}

// TestDrainWithoutServer: the drain waits between its tries to reach the server.
func TestDrainWithoutServer(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := on(t, own)
	id := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	close(s.stop)
	s.until("tried", func() bool { return strings.Count(s.logged(), "failed to connect") > 0 })
	tries := strings.Count(s.logged(), "failed to connect")
	end := time.Now().Add(time.Second)
	s.until("a second", func() bool { return time.Now().After(end) })
	if n := strings.Count(s.logged(), "failed to connect") - tries; n > 20 {
		t.Errorf("%d tries in a second", n)
	}
}

// TestSessionsAreForgotten: closed sessions do not stay in memory.
func TestSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	s := play(t)
	collected := make(chan struct{}, 100)
	l := newLoop(t.Context(), newService(s.target, zerologNone))
	if err := l.control.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	defer l.control.Close()
	register := func(context.Context, []pool.Backend) error { return nil }
	go func() { // in place of the loop
		for {
			select {
			case <-l.inbox.Asked():
			case <-t.Context().Done():
				return
			}
			l.inbox.Take()
			_ = l.inbox.Enlist(t.Context(), register)
		}
	}()
	for range 20 {
		session, err := l.runs.Pool.Connect(t.Context(), pool.Need{Reader: l.control.Facts().PID, Group: "a"})
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(session, func(int) { collected <- struct{}{} }, 0)
		session.Close()
	}
	n := 0
	servertest.Wait(t, 5*time.Second, "sessions that were closed are let go", func() bool {
		runtime.GC()
		for len(collected) > 0 {
			<-collected
			n++
		}
		return n >= 15
	})
}
