package work

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestSettingsThatHaveTheServerSayMuch: a session is ready for each task all the same, and the
// target goes on.
func TestSettingsThatHaveTheServerSayMuch(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input, settings)
		SELECT 'g' || g, 'SELECT current_setting(''z.bxxxxxxxxxxxxxxxxxx7'')',
			'{"client_min_messages": "log", "debug_print_plan": "on", "debug_print_parse": "on", "debug_print_rewritten": "on"}'::jsonb ||
			(SELECT jsonb_object_agg('z.bxxxxxxxxxxxxxxxxxx' || i, 1) FROM generate_series(1, 2050) AS i)
		FROM generate_series(1, 9) AS g`)
	s.eventually("9", "SELECT count(*) FROM task WHERE state = 'DONE' AND output = '1' AND attempt = 1 AND interrupted = 0")
	s.others()
}

// unready is a way to the database on which a task's session hears nothing more from the moment at
// which it is made ready for its first task; reached is closed then.
func unready(t *testing.T, s *stage) (dsn string, reached chan struct{}) {
	t.Helper()
	p := throughProxy(t)
	reached = make(chan struct{})
	p.Watch(func(_ int, fromClient bool, _ byte, body []byte) proxy.Verdict {
		if fromClient && bytes.Contains(body, []byte("'pg_task.id'")) {
			select {
			case <-reached:
			default:
				close(reached)
			}
			p.Stall(true)
		}
		return proxy.Pass
	})
	return p.DSN(s.dsn), reached
}

// reaches waits until a session is being made ready.
func (s *stage) reaches(reached chan struct{}) {
	s.t.Helper()
	select {
	case <-reached:
	case <-time.After(patient):
		s.t.Fatal("no session is made ready")
	}
}

// TestStopOfWhatIsNotReady: a task whose server does not take it is stopped as one that runs, and
// its slot is free when its row is deleted.
func TestStopOfWhatIsNotReady(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('one', 1)`)
	for _, c := range []struct{ statement, input, row string }{
		{"UPDATE task SET state = 'STOP'", "VACUUM task", `{"state":"STOP","sqlstate":"57014","ran":"00:00:00","why":true}`},
		{"UPDATE task SET state = 'STOP'", "SELECT 1", `{"state":"STOP","sqlstate":"57014","ran":"00:00:00","why":true}`},
		{"DELETE FROM task", "SELECT 1", ""},
	} {
		dsn, reached := unready(t, s)
		id := s.add(`input, remote, "group"`, c.input, dsn, "one")
		s.reaches(reached)
		behind := s.add(`input, "group"`, "SELECT 2", "one")
		s.exec(c.statement+" WHERE id = $1", id)
		stopped := time.Now()
		s.becomes(behind, "DONE")
		if took := time.Since(stopped); took > servertest.Limit(exec.Obey+5*time.Second) {
			t.Errorf("%s of %s has taken %s", c.statement, c.input, took)
		}
		if c.row != "" {
			s.eventually(c.row, "SELECT row_to_json(r) FROM (SELECT state, sqlstate, stop - start AS ran, "+
				"error LIKE '%canceling statement due to user request%before it had started%' AS why FROM task WHERE id = $1) AS r", id)
		}
	}
	s.others()
}

// TestDrainNamesWhatIsNotReady: it waits for that no longer than for what does not obey.
func TestDrainNamesWhatIsNotReady(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Grace = 0 })
	dsn, reached := unready(t, s)
	id := s.add(`input, remote, "group"`, "SELECT 1", dsn, "unready")
	s.reaches(reached)
	s.drain()
	named := fmt.Sprintf(`[{"id":%d,"group":"unready","phase":"start"}]`, id)
	for _, part := range []string{`"tasks":1,"waits_for":` + named, `"tasks":1,"cancels":` + named} {
		if !strings.Contains(s.logged(), part) {
			t.Error("the log has no", part)
		}
	}
}

// TestStopOfWhatIsBehindASlowCommit: what the task before has done stays, however long its COMMIT
// takes.
func TestStopOfWhatIsBehindASlowCommit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	s := play(t)
	s.exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(13); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (NEW.state = 'DONE' AND NEW.data = 'slow') EXECUTE FUNCTION slow()`)
	s.exec("CREATE TABLE effect (at timestamptz)")
	s.exec(`INSERT INTO task (input, data, plan) VALUES
		('INSERT INTO effect VALUES (now())', 'slow', now() + '1 s'), ('SELECT 2', NULL, now() + '1 s')`)
	s.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND wait_event = 'PgSleep'")
	s.exec("UPDATE task SET state = 'STOP' WHERE data IS NULL")
	s.eventually(`[{"state":"DONE","attempt":1,"runs":null}, {"state":"STOP","attempt":0,"runs":null}]`,
		"SELECT json_agg(row_to_json(r)) FROM (SELECT state, attempt, runs FROM task ORDER BY id) AS r WHERE EXISTS (SELECT FROM task WHERE state = 'DONE' OR attempt > 1 OR runs IS NOT NULL)")
	s.others()
}

// unopened is a remote that takes connections and says nothing; each comes out of the channel.
func unopened(t *testing.T) (dsn string, all <-chan net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns, ended := make(chan net.Conn, 100), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "host=127.0.0.1 sslmode=disable user=any password=any dbname=any port=" + port, conns
}

// soon is well below the time that connecting may take.
const soon = remote.ConnectLimit / 2

// hungUp waits until a connection is given up by its client.
func (s *stage) hungUp(conn net.Conn) {
	s.t.Helper()
	_ = conn.SetDeadline(time.Now().Add(servertest.Limit(soon)))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Error("the connection is still being opened")
	}
	_ = conn.Close()
}

// TestDrainGivesUpWhatIsNotOpen: a task whose session is still being opened has not begun, and
// keeps no drain, however long the grace is.
func TestDrainGivesUpWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Grace = time.Hour })
	dsn, all := unopened(t)
	id := s.add("input, remote, rerun", "SELECT 1", dsn, false)
	conn := <-all
	defer func() { _ = conn.Close() }()
	began := time.Now()
	s.drain()
	if took := time.Since(began); took > servertest.Limit(soon) {
		t.Error("it took", took)
	}
	if row := s.row(id, "state, attempt, error, runs, base"); row != `{"state":"PLAN","attempt":0,"error":null,"runs":null,"base":null}` {
		t.Error(row)
	}
}

// TestStopOfWhatIsNotOpen gives the connection up at once, and the slot back.
func TestStopOfWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('one', 1)`)
	for _, statement := range []string{"UPDATE task SET state = 'STOP'", "DELETE FROM task"} {
		dsn, all := unopened(t)
		id := s.add(`input, remote, "group"`, "SELECT 1", dsn, "one")
		conn := <-all
		behind := s.add(`input, "group"`, "SELECT 2", "one")
		s.exec(statement+" WHERE id = $1", id)
		s.hungUp(conn)
		s.becomes(behind, "DONE")
		if rest := s.get("SELECT coalesce((SELECT concat_ws(' ', state, attempt, error) FROM task WHERE id = $1), '')", id); rest != "" && rest != "STOP 0" {
			t.Error(rest)
		}
	}
	s.others()
}
