package work

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/work/ledger"
)

// Tests of prepared rows: their transaction may be committed, and their end is not written yet.

// held returns a stage where the ends of tasks that write wait until the gate opens.
func held(t *testing.T) (s *stage, open func()) {
	t.Helper()
	s = play(t)
	s.exec("CREATE TABLE effect (id int8)")
	gate := s.connect()
	must(t, gate, "SELECT pg_advisory_lock(7)")
	s.exec("CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END$$;" +
		"CREATE TRIGGER gate BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION gate()")
	return s, func() { t.Helper(); must(t, gate, "SELECT pg_advisory_unlock(7)") }
}

const writes = "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8)"

// committed waits until a row is prepared and its transaction is committed.
func (s *stage) committed(id int64) {
	s.t.Helper()
	s.eventually("WORK t 1", "SELECT concat_ws(' ', state, xact IS NOT NULL, (SELECT count(*) FROM effect AS e WHERE e.id = t.id)) FROM task AS t WHERE id = $1", id)
}

// TestWhatIsDoneToAPreparedRow: nothing is undone. STOP stops its repetition, PLAN changes nothing,
// DELETE removes the row and ends its series, and any other change stays.
func TestWhatIsDoneToAPreparedRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, columns, want string }{
		"STOP":    {"UPDATE task SET state = 'STOP' WHERE id = $1", "false", "DONE STOP 1"},
		"PLAN":    {"UPDATE task SET state = 'PLAN' WHERE id = $1", "false", "DONE PLAN 1"},
		"DELETE":  {"DELETE FROM task WHERE id = $1", "false", "1"},
		"data":    {"UPDATE task SET data = 'changed' WHERE id = $1", "false", "DONE PLANchanged 1"},
		"repeat":  {"UPDATE task SET repeat = '0' WHERE id = $1", "false", "DONE 1"},
		"overlap": {"UPDATE task SET state = 'STOP' WHERE id = $1", "true", "DONE STOP 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, open := held(t)
			id := s.add("input, repeat, overlap", writes, "1 day", c.columns)
			s.committed(id)
			s.exec(c.change, id)
			if row := s.get("SELECT coalesce((SELECT state::text FROM task WHERE id = $1), 'gone')", id); row != "WORK" && name != "DELETE" {
				t.Error("before its end it shows ", row)
			}
			open()
			s.eventually("0", "SELECT count(*) FROM task WHERE state = 'WORK'")
			s.others()
			got := s.get(`SELECT concat_ws(' ', (SELECT state FROM task WHERE id = $1), (SELECT string_agg(concat(state, data), ' ') FROM task WHERE parent = $1),
				(SELECT count(*) FROM effect))`, id)
			if got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, s.row(id, "error, output, attempt, runs"))
			}
			if name != "DELETE" && s.row(id, "output, attempt, error, xact") != `{"output":"INSERT 0 1","attempt":1,"error":null,"xact":null}` {
				t.Error(s.row(id, "output, attempt, error, xact"))
			}
		})
	}
}

// atCommit returns a stage where a task that wrote to effect waits in COMMIT for the gate.
func atCommit(t *testing.T) (s *stage, open func()) {
	t.Helper()
	s = play(t)
	gate := s.connect()
	must(t, gate, "SELECT pg_advisory_lock(8)")
	s.exec("CREATE TABLE effect (id int8); CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_advisory_xact_lock_shared(8); RETURN NULL; END$$;" +
		"CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION gate()")
	return s, func() { t.Helper(); must(t, gate, "SELECT pg_advisory_unlock(8)") }
}

// atWork is SQL for the sessions of tasks that wait for the lock in COMMIT.
const atWork = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 8 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"

// TestASessionIsLostAtCommit: the server says that the transaction is aborted, and the task runs
// again, unless it must not.
func TestASessionIsLostAtCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how   string
		rerun bool
		want  string
	}{
		"terminated":       {"pg_terminate_backend", true, "DONE 1"},
		"cancelled":        {"pg_cancel_backend", true, "DONE 1"},
		"terminated, once": {"pg_terminate_backend", false, "FAIL 08006 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, open := atCommit(t)
			id := s.add("input, rerun", writes, c.rerun)
			s.eventually("true", "SELECT count(*) > 0 FROM ("+atWork+") AS w")
			s.eventually("WORK t", "SELECT concat_ws(' ', state, xact IS NOT NULL) FROM task WHERE id = $1", id)
			s.exec("SELECT " + c.how + "(pid) FROM (" + atWork + ") AS w")
			open()
			s.becomes(id, "DONE", "FAIL")
			if got := s.get("SELECT concat_ws(' ', state, sqlstate, (SELECT count(*) FROM effect)) FROM task WHERE id = $1", id); got != c.want {
				t.Error(got, s.row(id, "error, attempt, interrupted, runs"))
			}
			s.others()
		})
	}
}

// serveUntilKilled runs Serve until it is killed.
func (s *stage) serveUntilKilled() (kill func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Serve(ctx, make(chan struct{}), s.target, zerolog.New(s))
	}()
	kill = func() { cancel(); <-ended }
	s.t.Cleanup(kill)
	return kill
}

// TestAControllerDiesBeforeTheEnd: the next leader judges the row by the server's record. It keeps
// the output that the row has, and writes what follows.
func TestAControllerDiesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.exec("CREATE TABLE effect (id int8)")
	s.exec("CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END$$;" +
		"CREATE TRIGGER gate BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION gate()")
	gate, listener := s.connect(), s.connect()
	must(t, gate, "SELECT pg_advisory_lock(7)")
	must(t, listener, "LISTEN ended")
	kill := s.serveUntilKilled()
	id := s.add("input, repeat, rerun, notify", writes, "1 day", false, "ended")
	s.committed(id)
	kill()
	must(t, gate, "SELECT pg_advisory_unlock(7)")
	s.serve()
	s.becomes(id, "DONE")
	if row := s.row(id, "output, attempt, interrupted, error, xact, next IS NOT NULL AS follows, stop >= start AS ran"); row !=
		`{"output":"INSERT 0 1","attempt":1,"interrupted":0,"error":null,"xact":null,"follows":true,"ran":true}` {
		t.Error(row)
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "1" {
		t.Error(n, " effects")
	}
	s.told(listener, id, "DONE")
}

// TestAControllerDiesBeforeCommit: an aborted task runs again, and FAILs if it must not.
func TestAControllerDiesBeforeCommit(t *testing.T) {
	t.Parallel()
	s, open := atCommit(t)
	s.drain()
	kill := s.serveUntilKilled()
	again := s.add(`input, "group"`, writes, "again")
	once := s.add(`input, rerun, on_fail, "group"`, writes, false, "SELECT 'failed'", "once")
	s.eventually("2", "SELECT count(*) FROM ("+atWork+") AS w")
	s.exec("SELECT pg_terminate_backend(pid) FROM (" + atWork + ") AS w")
	kill()
	open()
	s.serve()
	s.becomes(again, "DONE")
	s.becomes(once, "FAIL")
	s.eventually("DONE", "SELECT state FROM task WHERE parent = $1 AND input = 'SELECT ''failed'''", once)
	if got := s.get("SELECT string_agg(id::text, ' ') FROM effect"); got != fmt.Sprint(again) {
		t.Error("effects ", got)
	}
}

// TestAControllerDiesWhoseTaskIsPlannedForLater: somebody has planned it for later meanwhile. The
// next leader still finds the run that was cut off.
func TestAControllerDiesWhoseTaskIsPlannedForLater(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	kill := s.serveUntilKilled()
	for _, plan := range []string{"infinity", "2200-01-01"} {
		id := s.add(`input, rerun, "group"`, "SELECT pg_sleep(60)", false, plan)
		s.becomes(id, "WORK")
		s.exec("UPDATE task SET plan = $2 WHERE id = $1", id, plan)
	}
	s.exec("SELECT pg_terminate_backend(pid) FROM task")
	kill()
	s.serve()
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'FAIL'")
}

// TestARowOfAnotherPlaceIsNotJudged: this server's record has another transaction with that id. The
// task FAILs, whatever retry says, and its on_fail follows.
func TestARowOfAnotherPlaceIsNotJudged(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	control := s.connect()
	must(t, control, "SET application_name = 'pgtaskd test'")
	ids, committed := map[string]int64{}, s.get("SELECT txid_current()")
	for _, place := range []string{"'elsewhere/1'", "here"} {
		ids[place] = s.add(`input, retry, on_fail, plan, "group"`, "SELECT 'again'", 5, "SELECT 'failed'", "infinity", place)
		at := place
		if place == "here" {
			at = "(SELECT concat((SELECT s.system_identifier FROM pg_control_system() AS s), '/', d.oid) FROM pg_database AS d WHERE d.datname = current_database())"
		}
		if _, err := control.Exec(t.Context(), "UPDATE task SET state = 'WORK', attempt = 1, start = now(), plan = now(), output = 'kept', xact = "+committed+", xact_at = "+at+
			" WHERE id = $1", pgx.QueryExecModeSimpleProtocol, ids[place]); err != nil {
			t.Fatal(err)
		}
	}
	s.serve()
	for place, want := range map[string]string{"'elsewhere/1'": `{"state":"FAIL","sqlstate":"TK003","attempt":1,"output":"kept"}`, "here": `{"state":"DONE","sqlstate":null,"attempt":1,"output":"kept"}`} {
		s.becomes(ids[place], "DONE", "FAIL")
		if row := s.row(ids[place], "state, sqlstate, attempt, output"); row != want {
			t.Error(place, row)
		}
	}
	s.eventually("DONE", "SELECT state FROM task WHERE parent = $1", ids["'elsewhere/1'"])
}

// TestAServerCrashesBeforeARowIsPrepared: the run that waited to be prepared is gone. Another
// transaction may now have its number, as nothing of the first one was on the disk.
func TestAServerCrashesBeforeARowIsPrepared(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"wal_writer_delay": "10s", "autovacuum": "off"}})
	s := stageOn(t, own.DSN("postgres"))
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8)")
	gate, holder := s.connect(), s.connect()
	must(t, gate, "SELECT pg_advisory_lock(7)")
	id := s.add("input", writes+"; SELECT pg_advisory_xact_lock(7)")
	s.eventually("1", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
	must(t, holder, fmt.Sprintf("BEGIN; SELECT FROM task WHERE id = %d FOR UPDATE", id))
	must(t, gate, "SELECT pg_advisory_unlock(7)")
	const waiting = "SELECT backend_xid::text FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name LIKE 'pg\\_task %'"
	s.eventually("1", "SELECT count(*) FROM ("+waiting+") AS w")
	number := s.get(waiting)
	if err := own.Crash(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.conn = s.connect()
	for s.get("SELECT txid_current() < $1::int8", number) == "true" {
	}
	s.becomes(id, "DONE", "FAIL")
	if got := s.get("SELECT concat_ws(' ', state, (SELECT count(*) FROM effect)) FROM task WHERE id = $1", id); got != "DONE 1" {
		t.Error(got, s.row(id, "error, attempt, interrupted, runs"))
	}
}

// TestOnlyARunWhoseSessionIsThereIsPrepared: else a run that a crash has ended could be judged by
// another transaction with its number.
func TestOnlyARunWhoseSessionIsThereIsPrepared(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	there, gone := s.connect(), s.connect()
	began := func(conn *pgx.Conn) (since time.Time) {
		if err := conn.QueryRow(t.Context(), "SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())").Scan(&since); err != nil {
			t.Fatal(err)
		}
		return since
	}
	since, ended := began(there), began(gone)
	s.exec("SELECT pg_terminate_backend($1)", gone.PgConn().PID())
	s.eventually("0", "SELECT count(*) FROM pg_stat_get_activity($1)", gone.PgConn().PID())
	for name, c := range map[string]struct {
		pid   uint32
		since time.Time
		want  ledger.Result
	}{
		"there":                  {there.PgConn().PID(), since, ledger.Taken},
		"gone":                   {gone.PgConn().PID(), ended, ledger.Lost},
		"another has the number": {there.PgConn().PID(), ended.Add(-time.Hour), ledger.Lost},
	} {
		id := s.add("input", writes)
		var version uint32
		if err := s.conn.QueryRow(t.Context(), "SELECT xmin FROM task WHERE id = $1", id).Scan(&version); err != nil {
			t.Fatal(err)
		}
		told := make(chan ledger.Answer, 1)
		l.ledger.Put(&ledger.Entry{
			Kind: ledger.Prepare, ID: id, Version: version, PID: int32(c.pid), Since: c.since, Start: since, Stop: since, Xact: 1 << 40,
			Tell: func(a ledger.Answer) { told <- a },
		})
		if err := l.ledger.Step(t.Context(), l.control.Conn()); err != nil {
			t.Fatal(err)
		}
		select {
		case a := <-told:
			if a.Result != c.want {
				t.Errorf("%s: %v, want %v", name, a, c.want)
			}
		default:
			t.Errorf("%s: not told", name)
		}
		if got := s.get("SELECT concat(state, xact) FROM task WHERE id = $1", id); (got != "PLAN") != (c.want == ledger.Taken) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestASuccessClearsTheErrorOfTheTryBefore: for a run that was prepared, and with a follow-up.
func TestASuccessClearsTheErrorOfTheTryBefore(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (n int); CREATE SEQUENCE tries")
	for _, notify := range []any{nil, "ended"} {
		s.exec("SELECT setval('tries', 1, false)")
		id := s.add("input, retry, backoff, notify", "INSERT INTO effect VALUES (1); SELECT 1 / (nextval('tries') - 1)", 1, "10 ms", notify)
		s.eventually("DONE 2", "SELECT concat_ws(' ', state, attempt, error, sqlstate) FROM task WHERE id = $1", id)
	}
}
