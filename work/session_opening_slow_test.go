//go:build slow

package work

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestStopOfWhatIsNotReady: a task's session does not become ready. If the task is stopped, this
// takes effect within half a minute. If its row is deleted, its slot becomes free.
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
		servertest.Wait(t, 2*patient, "the next", func() bool { return s.get("SELECT state FROM task WHERE id = $1", behind) == "DONE" })
		if took := time.Since(stopped); took > servertest.Limit(35*time.Second) {
			t.Errorf("%s of %s has taken %s", c.statement, c.input, took)
		}
		if c.row != "" {
			s.eventually(c.row, "SELECT row_to_json(r) FROM (SELECT state, sqlstate, stop - start AS ran, "+
				"error LIKE '%canceling statement due to user request%before it had started%' AS why FROM task WHERE id = $1) AS r", id)
		}
	}
	s.others()
}

// TestStopOfWhatIsBehindASlowCommit: the effects of the task before it stay, however long its
// COMMIT takes.
func TestStopOfWhatIsBehindASlowCommit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	s := play(t)
	s.exec(`CREATE TABLE effect (at timestamptz); CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(13); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
	s.exec(`INSERT INTO task (input, data, plan) VALUES
		('INSERT INTO effect VALUES (now())', 'slow', now() + '1 s'), ('SELECT 2', NULL, now() + '1 s')`)
	s.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND wait_event = 'PgSleep'")
	s.exec("UPDATE task SET state = 'STOP' WHERE data IS NULL")
	s.eventually(`[{"state":"DONE","attempt":1,"runs":null}, {"state":"STOP","attempt":0,"runs":null}]`,
		"SELECT json_agg(row_to_json(r)) FROM (SELECT state, attempt, runs FROM task ORDER BY id) AS r WHERE EXISTS (SELECT FROM task WHERE state = 'DONE' OR attempt > 1 OR runs IS NOT NULL)")
	s.others()
}

// TestDrainNamesWhatIsNotReady: the drain waits for it as long as for a task that does not obey.
func TestDrainNamesWhatIsNotReady(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Grace = 0 })
	dsn, reached := unready(t, s)
	id := s.add(`input, remote, "group"`, "SELECT 1", dsn, "unready")
	s.reaches(reached)
	s.drain()
	named := fmt.Sprintf("[%d]", id)
	for _, part := range []string{`"tasks":1,"waits_for":` + named, `"tasks":1,"cancels":` + named} {
		if !strings.Contains(s.logged(), part) {
			t.Error("the log has no", part)
		}
	}
}

// unready returns a way to the database that stalls when a session is made ready for its first
// task. It closes reached then.
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
