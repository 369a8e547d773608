package work

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// sessions are the backends that run tasks of the stage's database.
const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'"

func TestTerminatedFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT 1; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_terminate_backend(pid) " + sessions)
	s.becomes(id, "FAIL")
	if row := s.row(id, "output, sqlstate, attempt, interrupted"); row != `{"output":"1","sqlstate":"57P01","attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

func TestCancelledFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT 1; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_cancel_backend(pid) " + sessions)
	s.becomes(id, "FAIL")
	if row := s.row(id, "output, sqlstate, attempt, interrupted"); row != `{"output":"1","sqlstate":"57014","attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// TestControlTerminated: what runs goes on, and its end is written by the next leadership.
func TestControlTerminated(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(1.5)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	s.anyLeader()
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// TestStatisticsReset: of a crash tell all of the server's statistics, not those that somebody has
// reset.
func TestStatisticsReset(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.serve()
	s.settled()
	s.drain()
	id := s.add("input, state, pid, start, atomic", "SELECT 1", "WORK", 1<<30, time.Now(), true)
	s.exec("SELECT pg_stat_reset_shared('bgwriter')")
	s.serve()
	s.becomes(id, "DONE")
	if cause := s.get("SELECT runs -> 0 ->> 'cause' FROM task WHERE id = $1", id); cause != "interrupted" {
		t.Error(cause)
	}
}

// anyLeader adds a task and waits for it, whoever leads.
func (s *stage) anyLeader() {
	s.t.Helper()
	s.becomes(s.add(`input, "group"`, "SELECT 'other'", "others"), "DONE")
}

// noon is when what has no time of its own happens.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEndWhileLeadershipIsLost: a run that ends in the moment in which the control connection is
// lost is not run again.
func TestEndWhileLeadershipIsLost(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), Target{Live: Live{Run: 1}}, target.NewLog(zerologNone, nil))
	l.runs.Lanes.Add([]byte("a"), nil, lane.Rank{ID: 1})
	ids := l.runs.Lanes.Choose(1)
	one := &run.Task{Row: run.Row{ID: ids[0], Group: "a"}}
	one.Ticket = one.Row.Ticket(lane.KeyOf("a", ""))
	one.Read = time.Now()
	l.tasks.Know([]*run.Task{one})
	l.runs.Lanes.Prefetched([]*run.Task{one})
	if l.runs.Lanes.Start(false, func(*run.Task) bool { return true }) != one || !l.busy() {
		t.Fatal("it does not run")
	}
	l.inbox.Outcome(run.Outcome{Task: one, Kind: run.Finished, Start: noon, Stop: noon})
	if !l.busy() {
		t.Error("the end is in the inbox, and the loop would end without writing it")
	}
}

// TestServerRestarted: what ran is cut off and runs again.
func TestServerRestarted(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := on(t, own)
	id := s.add("input", "SELECT pg_sleep(1)")
	s.becomes(id, "WORK")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.conn = s.connect()
	s.becomes(id, "DONE", "FAIL")
	if row := s.row(id, "attempt, interrupted, jsonb_array_length(runs)"); row != `{"attempt":2,"interrupted":1,"jsonb_array_length":1}` {
		t.Error(row)
	}
}

// on plays on a server of the test's own.
func on(t *testing.T, own *server.Server) *stage {
	t.Helper()
	s := &stage{t: t, dsn: own.DSN("postgres")}
	s.target = targetOf(t, s.dsn)
	s.conn = s.connect()
	s.serve()
	s.settled()
	return s
}

// TestRemoteServerStopped: the server of a remote that stops cuts its tasks off, as ours does.
func TestRemoteServerStopped(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := play(t)
	id := s.add("input, remote", "SELECT pg_sleep(60)", own.DSN("postgres"))
	elsewhere := stageOn(t, own.DSN("postgres"))
	elsewhere.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'") // it is marked before
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

// TestARemoteThatIsLostAgainAndAgain: nobody knows whether the task has made it crash, so it waits
// longer each time, and FAILs after the fifth.
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

// TestRemoteCannotBePrepared: what a remote cannot take is a failure, not an interruption without
// end.
func TestRemoteCannotBePrepared(t *testing.T) {
	t.Parallel()
	s := play(t)
	name := s.get("SELECT current_database()") + "_latin"
	s.exec("CREATE DATABASE " + name + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { s.clear("DROP DATABASE " + name + " WITH (FORCE)") })
	id := s.add("input, data, remote", "SELECT 1", "€", "dbname="+name)
	s.becomes(id, "FAIL")
	if row := s.row(id, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// clear runs a statement at the end of a test.
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

// TestServerKilledByTask: a task that brings the server down is found out, also one that was taken
// alone, by a statement that the server forgets.
func TestServerKilledByTask(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	t.Run("marked", func(t *testing.T) { testServerKilled(t, "COPY (SELECT 1) TO PROGRAM 'echo >> kills; kill -9 $PPID'") })
	t.Run("alone", func(t *testing.T) { testServerKilled(t, "SELECT kills()") })
}

func testServerKilled(t *testing.T, input string) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"restart_after_crash": "on", "wal_writer_delay": "10s"}})
	s := on(t, own)
	defer func() { s.t.Log(s.logged()) }()
	s.exec(`CREATE FUNCTION kills() RETURNS void LANGUAGE plpgsql AS $$BEGIN COPY (SELECT 1) TO PROGRAM 'echo >> kills; kill -9 $PPID'; END$$`)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // a session lies ready then
	s.exec("DELETE FROM task")
	s.asleep()
	_, _ = s.conn.Exec(t.Context(), "INSERT INTO task (input) VALUES ($1)", input) // the server may be down before it answers
	var row string
	servertest.Wait(t, time.Minute, "FAIL", func() bool {
		conn, err := connectTo(t.Context(), s.dsn)
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close(t.Context()) }()
		_ = conn.QueryRow(t.Context(), "SELECT state || ' ' || interrupted FROM task").Scan(&row)
		if strings.HasPrefix(row, "WORK 9") {
			t.Fatal("it goes on: ", row)
		}
		return strings.HasPrefix(row, "FAIL")
	})
	if row != "FAIL 5" {
		t.Error(row)
	}
	conn, err := connectTo(t.Context(), s.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var kills int
	if err := conn.QueryRow(t.Context(), "SELECT length(pg_read_file('kills'))").Scan(&kills); err != nil || kills != 5 {
		t.Error(kills, err)
	}
}

// TestOrphans: a new leader leaves alone what an old leader's session still runs, and returns what
// nobody does.
func TestOrphans(t *testing.T) {
	t.Parallel()
	s := play(t)
	gone := s.add(`input, "group", plan`, "SELECT 'gone'", "gone", "infinity")
	s.drain()
	old := s.connect()
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("UPDATE task SET state = 'WORK', pid = 1, start = now(), plan = now(), attempt = 1, atomic = true WHERE id = $1", gone)
	s.exec("RESET session_replication_role; RESET application_name")
	alive := s.add(`input, remote, "group", state, attempt, pid, start, atomic`, "SELECT 'alive'", "", "alive", "WORK", 1, int32(old.PgConn().PID()), time.Now().Add(time.Minute), true)
	never := s.add(`input, rerun, state, attempt, pid, start, atomic, "group"`, "SELECT 'never'", false, "WORK", 1, 1, time.Now(), false, "never")
	taken := s.add(`input, state, attempt, pid, "group"`, "SELECT 'taken'", "TAKE", 1, 1, "taken")
	behind := s.add(`input, "group"`, "SELECT 'behind'", "alive")
	s.serve()
	s.becomes(gone, "DONE")
	s.becomes(never, "FAIL")
	s.becomes(taken, "DONE")
	if state := s.state(alive) + " " + s.state(behind); state != "WORK PLAN" {
		t.Error("a living session's task and the next of its lane: ", state)
	}
	_ = old.Close(t.Context())
	s.becomes(alive, "DONE")
	s.becomes(behind, "DONE")
}

// TestConnectionsRefused: what the server cannot take now waits, and says why.
func TestConnectionsRefused(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Idle = 0 })
	name := s.get("SELECT current_database()")
	other, err := connectTo(t.Context(), servertest.Server(t).DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(t.Context()) }()
	if _, err := other.Exec(t.Context(), "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false"); err != nil {
		t.Fatal(err)
	}
	id := s.add("input", "SELECT 1")
	s.eventually("true", "SELECT error LIKE 'ERROR:  could not establish connection%' AND state = 'PLAN' AND plan > now() FROM task WHERE id = $1", id)
	if _, err := other.Exec(t.Context(), "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true"); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, interrupted, error"); row != `{"attempt":1,"interrupted":0,"error":null}` {
		t.Error(row)
	}
}

// TestThawedLeader: one that was frozen and does not know yet that another leads opens no session
// for what it had read.
func TestThawedLeader(t *testing.T) {
	t.Parallel()
	s := leading(t)
	s.done(s.add("input", "SELECT 1"))
	for owner, want := range map[int32]bool{s.loop.control.Facts().PID: true, 1 << 22: false} {
		session, err := s.loop.runs.Pool.Connect(t.Context(), pool.Need{Reader: owner})
		if err == nil {
			session.Close()
		}
		if (err == nil) != want || err != nil && pool.Final(err) {
			t.Error(owner, err)
		}
	}
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND state = 'active'")
}

// TestRowsOfARestoredCopyAreNotTakenForAnotherDatabasesBackends: process ids are those of the whole
// server.
func TestRowsOfARestoredCopyAreNotTakenForAnotherDatabasesBackends(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.serve()
	s.settled()
	s.drain()
	elsewhere, err := connectTo(t.Context(), strings.Replace(s.dsn, "dbname="+s.get("SELECT current_database()"), "dbname=postgres", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = elsewhere.Close(context.WithoutCancel(t.Context())) }()
	pid := int32(elsewhere.PgConn().PID())
	if s.get("SELECT datname = current_database() FROM pg_stat_activity WHERE pid = $1", pid) != "false" {
		t.Fatal("it is in the same database")
	}
	works := s.add(`input, "group", state, attempt, pid, start, atomic`, "SELECT 'again'", "works", "WORK", 1, pid, time.Now().Add(time.Minute), true)
	stops := s.add(`input, "group", state, attempt, pid, start, stopping`, "SELECT 'never'", "stops", "STOP", 1, pid, time.Now().Add(time.Minute), true)
	s.serve()
	s.becomes(works, "DONE")
	s.eventually("true", "SELECT stop IS NOT NULL AND stopping IS NULL FROM task WHERE id = $1", stops)
}
