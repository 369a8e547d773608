//go:build slow

package work

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// filling makes notifications fail in one database as if the server's queue were full, which would
// take 8 GB. It replaces functions of the server; a proxy makes the error at COMMIT look like the
// server's.
const filling = `
CREATE TABLE queue (usage float8, full_for text); INSERT INTO queue VALUES (0, '');
CREATE TABLE refused (channel text);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000'; END$$;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON refused DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO unlimited_notify;
ALTER FUNCTION pg_catalog.pg_notification_queue_usage() RENAME TO unlimited_usage;
CREATE FUNCTION pg_catalog.pg_notification_queue_usage() RETURNS float8 LANGUAGE sql SECURITY DEFINER AS 'SELECT usage FROM public.queue';
CREATE FUNCTION pg_catalog.pg_notify(text, text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	IF (SELECT $1 LIKE full_for FROM public.queue) THEN
		INSERT INTO public.refused VALUES ($1);
	ELSE
		PERFORM pg_catalog.unlimited_notify($1, $2);
	END IF;
END$$`

// fillable returns a stage whose queue of notifications the test can fill.
func fillable(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		if !fromClient && kind == 'E' {
			asOfTheQueue(body)
		}
		return proxy.Pass
	})
	direct := tasktest.Database(t)
	s := stageOn(t, p.DSN(direct), change...)
	s.exec(filling)
	return s
}

// asOfTheQueue makes the error of refuse look like the server's own.
func asOfTheQueue(body []byte) {
	var e pgproto3.ErrorResponse
	if e.Decode(body) != nil || e.Code != "54000" || e.Routine != "exec_stmt_raise" {
		return
	}
	e.Where, e.File, e.Routine, e.Detail = "", "async.c", "PreCommit_Notify", "."
	encoded, err := e.Encode(nil)
	if err != nil {
		panic(err)
	}
	const header = 5
	e.Detail = strings.Repeat(".", 1+len(body)-(len(encoded)-header))
	if encoded, err = e.Encode(nil); err != nil {
		panic(err)
	}
	copy(body, encoded[header:])
}

// full makes every notification fail, once the leader knows that the queue is nearly full. room
// makes them work again.
func (s *stage) full() {
	s.t.Helper()
	s.exec("UPDATE queue SET usage = 0.9999")
	s.until("awake", func() bool { return s.sleepers() == "0" })
	s.exec("UPDATE queue SET full_for = '%'")
}

func (s *stage) room() { s.exec("UPDATE queue SET usage = 0, full_for = ''") }

// TestAFullQueueOfNotificationsEndsNothing: tasks that notify nobody go on. The others wait until
// there is room, and it does not count as a failure of theirs.
func TestAFullQueueOfNotificationsEndsNothing(t *testing.T) {
	t.Parallel()
	s := fillable(t)
	s.exec("CREATE TABLE effect (id int8)")
	s.serve()
	s.settled()
	runs := s.add(`input, "group"`, "SELECT pg_sleep(100)", "runs")
	deleted := s.add(`input, "group"`, "SELECT pg_sleep(100)", "deleted")
	later := s.add("input, plan", "SELECT 1", "infinity")
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'WORK'")
	s.full()

	again := s.add("input, retry, backoff", "SELECT 1/0", 3, "1 hour")
	s.eventually("PLAN 1", "SELECT concat(state, ' ', attempt) FROM task WHERE id = $1", again)
	beats := s.add("input, cron", "SELECT 1", "0 0 1 1 *")
	s.eventually("true", "SELECT plan > now() FROM task WHERE id = $1", beats)
	repeats := s.add("input, repeat", "INSERT INTO effect VALUES (0)", "1 day")
	s.becomes(repeats, "DONE")
	waiting := map[int64]string{}
	for input, state := range map[string]string{
		"SELECT 1":                      "DONE",
		"INSERT INTO effect VALUES (1)": "DONE",
		"VACUUM effect":                 "DONE",
		"SELECT 1/0":                    "FAIL",
	} {
		waiting[s.add(`input, notify, "group"`, input, "ended", input)] = state
	}
	own := s.add(`input, "group"`, "INSERT INTO effect VALUES (2); SELECT pg_notify('own', '')", "own")
	s.add("input, notify, plan, active", "SELECT 1", "ended", time.Now().Add(-time.Hour), "1 s") // it expires
	s.says(`"error"`, "queue of notifications is full", "pg_stat_activity")

	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", runs)
	s.becomes(runs, "STOP")
	s.exec("DELETE FROM task WHERE id = $1", deleted)
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep(100)'")
	s.exec("UPDATE task SET plan = now() - interval '30 min' WHERE id = $1", later)
	s.becomes(later, "DONE")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	for id := range waiting {
		s.eventually("true", "SELECT state IN ('PLAN', 'WORK') FROM task WHERE id = $1", id)
	}

	s.room()
	for id, state := range waiting {
		s.becomes(id, state)
	}
	s.becomes(own, "DONE")
	s.eventually("0 1 2", "SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect")
	if n := strings.Count(s.logged(), "queue of notifications is full"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
	if strings.Contains(s.logged(), "table refuses") {
		t.Error("the table is blamed")
	}
}

// TestATriggerThatNotifiesWaitsForRoom: if a user's trigger notifies, no row takes a change while
// the queue is full. The tasks lose no tries by that.
func TestATriggerThatNotifiesWaitsForRoom(t *testing.T) {
	t.Parallel()
	s := fillable(t)
	s.exec(`CREATE TABLE effect (id int8);
		CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_notify('theirs', ''); RETURN NULL; END$$;
		CREATE TRIGGER tell AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION tell()`)
	s.serve()
	s.settled()
	s.full()
	ends := map[int64]string{}
	for input, end := range map[string]string{
		"SELECT 1":                      "DONE 1",
		"INSERT INTO effect VALUES (1)": "DONE 1",
		"VACUUM effect":                 "DONE 1",
		"SELECT pg_sleep(0.5)":          "DONE 1",
		"SELECT 1/0":                    "FAIL 3",
	} {
		ends[s.add(`input, "group", retry, backoff`, input, input, 2, "1 ms")] = end
	}
	s.says(`"error"`, "queue of notifications is full")
	s.exec("SELECT pg_sleep(1.5)") // long enough for them to fail
	for id := range ends {
		s.eventually("PLAN", "SELECT state FROM task WHERE id = $1", id)
	}
	s.room()
	for id, end := range ends {
		s.eventually(end, "SELECT concat(state, ' ', attempt) FROM task WHERE id = $1", id)
	}
	s.eventually("1", "SELECT count(*) FROM effect")
	if strings.Contains(s.logged(), "table refuses") {
		t.Error("the table is blamed")
	}
}

// TestATaskThatNotifiesTooMuchFails: if others have not filled the queue, the task itself has
// failed, and uses its tries.
func TestATaskThatNotifiesTooMuchFails(t *testing.T) {
	t.Parallel()
	s := fillable(t)
	s.exec("UPDATE queue SET full_for = 'own'")
	s.serve()
	s.settled()
	id := s.add("input, notify, retry, backoff", "SELECT pg_notify('own', '')", "ended", 1, "1 ms")
	s.becomes(id, "FAIL")
	if end := s.row(id, "attempt, sqlstate, error"); !strings.Contains(end, `"attempt":2`) || !strings.Contains(end, "54000") || !strings.Contains(end, "NOTIFY queue") {
		t.Error(end)
	}
	if strings.Contains(s.logged(), "queue of notifications is full") {
		t.Error("others are blamed")
	}
}

// TestAControllerStartsWhileTheQueueIsFull: it polls until there is room, and then sleeps.
func TestAControllerStartsWhileTheQueueIsFull(t *testing.T) {
	t.Parallel()
	s := fillable(t)
	s.exec("UPDATE queue SET usage = 0.9999, full_for = '%'")
	s.serve()
	id := s.add("input", "SELECT pg_sleep(100)")
	s.becomes(id, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.becomes(id, "STOP")
	s.room()
	s.until("asleep", func() bool { return s.sleepers() == "1" })
	s.becomes(s.add("input", "SELECT 1"), "DONE")
}
