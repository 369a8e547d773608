package work

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestARemoteRunIsExactlyOnce: the row says so before the run starts, and shows its place meanwhile.
func TestARemoteRunIsExactlyOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8, seen text)")
	id := s.add("input, remote", "INSERT INTO effect SELECT id, concat(state, atomic, xact_at) FROM task WHERE id = current_setting('pg_task.id')::int8", s.dsn)
	s.becomes(id, "DONE")
	if row := s.row(id, "atomic, xact, xact_at, output"); row != `{"atomic":true,"xact":null,"xact_at":null,"output":"INSERT 0 1"}` {
		t.Error(row)
	}
	s.eventually("WORKt", "SELECT seen FROM effect")
}

// TestARemoteThatCannotTell how a transaction has ended: its tasks are at least once, and say so.
func TestARemoteThatCannotTell(t *testing.T) {
	t.Parallel()
	s, elsewhere := play(t), prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	user := elsewhere.get("SELECT 'cannot_tell_' || oid FROM pg_database WHERE datname = current_database()")
	elsewhere.exec("CREATE ROLE " + user + " LOGIN; GRANT INSERT ON effect TO " + user + "; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	t.Cleanup(func() { elsewhere.clear("DROP OWNED BY " + user + "; DROP ROLE " + user) })
	for dsn, want := range map[string]string{elsewhere.dsn + " user=" + user: "false", elsewhere.dsn: "true"} {
		id := s.add("input, remote", "INSERT INTO effect VALUES (1)", dsn)
		s.becomes(id, "DONE")
		if got := s.get("SELECT atomic FROM task WHERE id = $1", id); got != want {
			t.Errorf("%s: atomic is %s", dsn, got)
		}
	}
}

// TestACrashBeforeTheFence: the remote has lost the run's transaction, and gives its number to the next
// one, which is committed. That one must not count as the run's.
func TestACrashBeforeTheFence(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"wal_writer_delay": "10s"}})
	p, err := proxy.Start(own.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	var runs atomic.Int32
	var crashed atomic.Bool
	p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if fromClient && strings.Contains(string(body), "INSERT INTO effect") {
			runs.Store(int32(conn))
		}
		if !fromClient && kind == 'D' && conn == int(runs.Load()) && !crashed.Swap(true) { // the answer that has the transaction
			killBackend(t, own.DSN("postgres"))
		}
		return proxy.Pass
	})
	s, elsewhere := play(t), stageOn(t, own.DSN("postgres"))
	elsewhere.exec("CREATE TABLE effect (id int8)")
	id := s.add("input, remote", "INSERT INTO effect VALUES (1)", p.DSN(own.DSN("postgres")))
	s.becomes(id, "DONE")
	if got := stageOn(t, own.DSN("postgres")).get("SELECT count(*) FROM effect"); got != "1" || !crashed.Load() {
		t.Errorf("%s effects, crashed: %t", got, crashed.Load())
	}
}

// killBackend kills a backend, so that its server ends all and recovers, and waits for that.
func killBackend(t *testing.T, dsn string) {
	killed, err := connectTo(t.Context(), dsn)
	other, failed := connectTo(t.Context(), dsn)
	if err := errors.Join(err, failed); err != nil {
		t.Error(err)
		return
	}
	_ = syscall.Kill(int(killed.PgConn().PID()), syscall.SIGKILL)
	_, _ = other.Exec(t.Context(), "SELECT pg_sleep(60)") // fails when the server ends all backends
	servertest.Wait(t, patient, "the server recovers", func() bool {
		conn, err := connectTo(t.Context(), dsn)
		return err == nil && conn.Close(t.Context()) == nil
	})
}

// TestACommitThatNoStandbyHas: a run whose COMMIT has not waited for the synchronous standby of its
// remote is DONE only once that has it.
func TestACommitThatNoStandbyHas(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"pg_terminate_backend", "pg_cancel_backend"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			own := servertest.New(t, server.Options{})
			s, elsewhere := play(t), stageOn(t, own.DSN("postgres"))
			elsewhere.exec("CREATE TABLE effect (id int8); SELECT pg_advisory_lock(1)")
			id := s.add("input, remote", "INSERT INTO effect VALUES (1); SELECT pg_advisory_xact_lock(1)", own.DSN("postgres"))
			elsewhere.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'")
			release, before := s.lock(id, "FOR UPDATE"), elsewhere.get("SELECT clock_timestamp()")
			elsewhere.exec("SELECT pg_advisory_unlock(1)")
			elsewhere.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND query ~ 'emit_message' AND query_start > $1::text::timestamptz", before)
			elsewhere.exec("ALTER SYSTEM SET synchronous_standby_names = 'away'")
			elsewhere.exec("SELECT pg_reload_conf()")
			const waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE $1"
			go func() {
				conn, err := connectTo(t.Context(), own.DSN("postgres")+" application_name=probe")
				for err == nil {
					_, err = conn.Exec(t.Context(), "SELECT pg_logical_emit_message(true, '', '')")
				}
			}()
			elsewhere.eventually("1", waits, "probe")
			release()
			elsewhere.eventually("1", waits, "pg_task %")
			elsewhere.exec("SELECT " + end + "(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'pg_task %'")
			elsewhere.eventually("1", waits, "pgtaskd %")
			if state := s.state(id); state != "WORK" {
				t.Error(state)
			}
			elsewhere.exec("ALTER SYSTEM RESET synchronous_standby_names")
			elsewhere.exec("SELECT pg_reload_conf()")
			s.becomes(id, "DONE")
		})
	}
}

// TestARemoteWithoutRoomForTheFence: its tasks wait. They do not run less well.
func TestARemoteWithoutRoomForTheFence(t *testing.T) {
	t.Parallel()
	s, elsewhere := play(t), prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	user := elsewhere.get("SELECT 'no_room_' || oid FROM pg_database WHERE datname = current_database()")
	elsewhere.exec("CREATE ROLE " + user + " LOGIN CONNECTION LIMIT 1; GRANT INSERT ON effect TO " + user)
	t.Cleanup(func() { elsewhere.clear("DROP OWNED BY " + user + "; DROP ROLE " + user) })
	id := s.add("input, remote", "INSERT INTO effect VALUES (1)", elsewhere.dsn+" user="+user)
	s.eventually("53300", "SELECT sqlstate FROM task WHERE id = $1", id)
	elsewhere.exec("ALTER ROLE " + user + " CONNECTION LIMIT 2")
	s.becomes(id, "DONE")
	if row := s.row(id, "atomic, sqlstate"); row != `{"atomic":true,"sqlstate":null}` {
		t.Error(row)
	}
}
