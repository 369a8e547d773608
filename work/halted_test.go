package work

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// ledThroughProxy returns a stage whose leader can be cut off.
func ledThroughProxy(t *testing.T) (*stage, *proxy.Proxy) {
	t.Helper()
	s, p := prepared(t), throughProxy(t)
	old := s.target
	var err error
	if old.Connect, err = remote.Parse(p.DSN(s.dsn)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Serve(t.Context(), nil, old, zerolog.New(s))
	}()
	t.Cleanup(func() { <-ended })
	s.settled()
	return s, p
}

// TestStopOutlivesTheLeader: the leader of a stopped task is gone before it has written the end.
func TestStopOutlivesTheLeader(t *testing.T) {
	t.Parallel()
	for state, die := range someOf(map[string]func(*proxy.Proxy){
		"WORK": func(p *proxy.Proxy) { p.Stall(true) }, // for the server, the session is alive
		"PLAN": func(*proxy.Proxy) {},
	}) {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, p := ledThroughProxy(t)
			s.exec("CREATE TABLE effect (id int4)")
			s.refuse("UPDATE", "NEW.state = 'WORK'") // keeps the row PLAN while the task runs
			data := map[string]string{"PLAN": "odd"}[state]
			id := s.add("input, repeat, data", "INSERT INTO effect VALUES (1); SELECT pg_advisory_xact_lock(42), pg_sleep(60)", "1 day", data)
			behind := s.add("input", "SELECT pg_try_advisory_xact_lock(42)")
			paused := s.add(`input, "group", plan`, "SELECT 'paused'", "paused", "infinity")
			s.eventually("1", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
			s.becomes(id, state)

			die(p)
			s.exec("UPDATE task SET state = 'STOP' WHERE id IN ($1, $2)", id, paused)
			p.Refuse(true)
			if state == "PLAN" {
				p.Cut()
			}
			s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
			s.serve()

			if state == "WORK" {
				s.eventually("true", "SELECT stop >= start FROM task WHERE id = $1", id)
			}
			s.becomes(behind, "DONE")
			row := s.row(id, "state, sqlstate, left(error, 50) AS error, next, stopping, attempt")
			want := `{"state":"STOP","sqlstate":"57014","error":"ERROR:  canceling statement due to user request\nDE","next":null,"stopping":null,"attempt":1}`
			if state == "PLAN" {
				want = `{"state":"STOP","sqlstate":null,"error":null,"next":null,"stopping":null,"attempt":0}`
			}
			if row != want {
				t.Error(row)
			}
			if row := s.row(behind, fmt.Sprintf("output, coalesce(start >= (SELECT stop FROM task WHERE id = %d), true) AS after", id)); row != `{"output":"t","after":true}` {
				t.Error("the next of its lane: ", row)
			}
			if n := s.get("SELECT count(*) FROM effect"); n != "0" {
				t.Error("effects: ", n)
			}
			if row := s.row(paused, "state, start, stop, stopping"); row != `{"state":"STOP","start":null,"stop":null,"stopping":null}` {
				t.Error("one that waited: ", row)
			}
			s.exec("UPDATE task SET state = 'PLAN', plan = now(), input = 'SELECT 1', repeat = '0' WHERE id IN ($1, $2)", id, paused)
			s.becomes(id, "DONE")
			s.becomes(paused, "DONE")
			if n := s.get("SELECT coalesce(jsonb_array_length(runs), 0) FROM task WHERE id = $1", id); n != map[string]string{"WORK": "1", "PLAN": "0"}[state] {
				t.Error("earlier runs: ", n)
			}
		})
	}
}

func throughProxy(t *testing.T) *proxy.Proxy {
	t.Helper()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// TestStopAndSessionLost: the leader leads again, but knows only that the session is gone.
func TestStopAndSessionLost(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("BEGIN; UPDATE task SET state = 'STOP'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() " +
		"AND application_name LIKE 'pg%task %'; COMMIT")
	s.anyLeader()
	s.eventually("false", "SELECT stop IS NULL FROM task WHERE id = $1", id)
	if row := s.row(id, "state, sqlstate"); row != `{"state":"STOP","sqlstate":"57014"}` {
		t.Error(row)
	}
}

// TestStopOfAnOrphan: a task that runs in a session of an old leader is set to STOP while the next
// one leads. The next leader ends that session. It does not end a session that has gone on to
// another task, or one that only has the same process id.
func TestStopOfAnOrphan(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.drain()
	session := func(ours bool) (pid int32, alive func() bool) {
		if pid = int32(s.connect().PgConn().PID()); ours {
			s.enrols(pid)
		}
		return pid, func() bool { return s.get("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == "1" }
	}
	working := func(group string, pid int32, start string) int64 {
		return s.add(`input, "group", state, attempt, pid, start`, "SELECT 1", group, "WORK", 1, pid, s.get("SELECT now() + $1::interval", start))
	}
	runs, runsLives := session(true)
	stopped := working("runs", runs, "1 s")
	later, laterLives := session(true)
	before, after := working("later", later, "1 s"), working("after", later, "2 s")
	other, otherLives := session(false)
	s.serve()
	s.until("led", func() bool { return s.leads() == 2 })
	s.exec("BEGIN")
	reused := working("other", other, "-1 hour") // committed alone, it would be cut off at once
	s.exec("UPDATE task SET state = 'STOP' WHERE id IN ($1, $2, $3)", stopped, before, reused)
	s.exec("COMMIT")
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'STOP' AND stop IS NOT NULL AND id IN ($1, $2)", stopped, reused)
	if runsLives() || !laterLives() || !otherLives() {
		t.Error("live: ", runsLives(), laterLives(), otherLives())
	}
	if states := s.state(before) + " " + s.state(after); states != "STOP WORK" {
		t.Error(states)
	}
}

// TestOrphanResumed: a task that an old leader should have stopped waits again, and we run it
// before we have seen that. It is no orphan any more.
func TestOrphanResumed(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.drain()
	s.refuse("UPDATE", "NEW.state = 'WORK' AND OLD.state = 'PLAN'") // no mark shows the task while it runs
	conn := s.connect()
	s.enrols(int32(conn.PgConn().PID()))
	working := func(group, data, start string) int64 {
		return s.add(`input, "group", max, data, state, attempt, pid, start`, "SELECT pg_sleep(1)", group, 9, data, "WORK", 1, conn.PgConn().PID(), s.get("SELECT now() + $1::interval", start))
	}
	before := working("before", "odd", "1 s")
	working("after", "", "2 s") // because of this task the session is not ended
	s.serve()
	s.until("led", func() bool { return s.leads() == 2 })
	s.becomes(s.add(`input, "group"`, "SELECT 1", "other"), "DONE") // the leader has seen everything then
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", before)
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", before)
	s.becomes(before, "DONE")
	if row := s.row(before, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// TestStopBehindOurSession: a stopped task that nobody runs gets its end, even while the session
// that ran it goes on.
func TestStopBehindOurSession(t *testing.T) {
	t.Parallel()
	s := play(t)
	first := s.add("input", "SELECT 1 FROM pg_sleep(0.2)")
	s.becomes(first, "DONE")
	id := s.add(`input, "group", state, stopping, pid, start`, "SELECT 1", "behind", "STOP", true, s.get("SELECT pid FROM task WHERE id = $1", first), s.get("SELECT now()::text"))
	s.add(`input, plan`, "SELECT 1", s.get("SELECT now() + interval '1 s'"))
	s.eventually("false", "SELECT stop IS NULL FROM task WHERE id = $1", id)
}

// TestStraysOfTheOldLeader: rows are deleted, or wait again, while their leader is frozen. Their
// runs end with its term.
func TestStraysOfTheOldLeader(t *testing.T) {
	t.Parallel()
	s, p := ledThroughProxy(t)
	deleted := s.add(`input, "group"`, "SELECT pg_sleep(60), 'deleted'", "deleted")
	again := s.add(`input, "group"`, "SELECT pg_sleep(60), 'again'", "again")
	kept := s.add(`input, "group"`, "SELECT pg_sleep(60), 'kept'", "kept")
	for _, id := range []int64{deleted, again, kept} {
		s.becomes(id, "WORK")
	}
	runs := func(which string) string {
		return s.get("SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity WHERE state = 'active' AND query = $1",
			"SELECT pg_sleep(60), '"+which+"'")
	}
	keeps := runs("kept")

	p.Stall(true)
	s.exec("DELETE FROM task WHERE id = $1", deleted)
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", again)
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", again)
	p.Refuse(true)
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	s.serve()

	s.becomes(again, "WORK")
	s.until("end of what was deleted", func() bool { return runs("deleted") == "" })
	s.until("end of what waits again", func() bool { return runs("again") == s.get("SELECT pid FROM task WHERE id = $1", again) })
	if now := runs("kept"); now != keeps {
		t.Errorf("what is under way was run by %s, and is by %s", keeps, now)
	}
}
