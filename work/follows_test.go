package work

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestOnFail: the task in on_fail comes with the last FAIL or GONE, and not before.
func TestOnFail(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE cried (id bigint, data text)")
	const cry = "INSERT INTO cried SELECT current_setting('pg_task.parent')::bigint, current_setting('pg_task.data')"
	failed := s.add(`input, on_fail, "group", data, retry, backoff, max`, "SELECT 1/0", cry, "sad", "of it", 1, "1 ms", 3)
	wrote := s.add("input, on_fail", "CREATE TABLE made (); SELECT 1/0", cry)
	late := s.add("input, on_fail, plan", "SELECT 1", cry, "2020-01-01")
	bad := s.add("input, on_fail, timeout", "SELECT pg_sleep(60)", cry, "10 ms")
	well := s.add("input, on_fail", "SELECT 1", cry)
	stopped := s.add("input, on_fail", "SELECT pg_sleep(60)", cry)
	s.becomes(stopped, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
	s.eventually("4", "SELECT count(*) FROM cried")
	s.becomes(well, "DONE")
	s.eventually("1", "SELECT count(*) FROM task WHERE id = $1 AND stop IS NOT NULL", stopped)
	if got := s.get("SELECT array_agg(id ORDER BY id)::text FROM cried"); got != s.get("SELECT ARRAY[$1, $2, $3, $4]::bigint[]::text", failed, wrote, late, bad) {
		t.Error(got)
	}
	if got := s.get(`SELECT format('%s %s %s %s', "group", data, max, retry) FROM task WHERE parent = $1`, failed); got != "sad of it 0 0" {
		t.Error(got)
	}
	if got := s.get("SELECT attempt FROM task WHERE id = $1", failed); got != "2" {
		t.Error("attempts", got)
	}
}

// TestNotify tells of each way in which a task ends, once, with its commit.
func TestNotify(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect ()")
	listener := s.connect()
	must(t, listener, `LISTEN "told Ü"`)
	for input, state := range map[string]string{"SELECT 1": "DONE", "INSERT INTO effect DEFAULT VALUES": "DONE", "SELECT 1/0": "FAIL", "VACUUM effect": "DONE", "": "DONE"} {
		id := s.add("input, notify, delete", input, "told Ü", false)
		s.told(listener, id, state)
	}
	s.told(listener, s.add("input, notify, plan", "SELECT 1", "told Ü", "2020-01-01"), "GONE")
	long := s.add("input, notify", "SELECT pg_sleep(60)", "told Ü")
	s.becomes(long, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", long)
	s.told(listener, long, "STOP")
	s.told(listener, s.add("input, notify, retry, backoff", "SELECT 1 / (current_setting('pg_task.attempt')::int - 1)", "told Ü", 1, "1 ms"), "DONE")
	again := s.add("input, notify, repeat", "SELECT 1", "told Ü", "1 hour")
	s.told(listener, again, "DONE")
	if got := s.get("SELECT notify FROM task WHERE parent = $1", again); got != "told Ü" {
		t.Error("the repetition tells", got)
	}
}

// told waits for the notification of an end, which must be the next.
func (s *stage) told(listener *pgx.Conn, id int64, state string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patient)
	defer cancel()
	n, err := listener.WaitForNotification(ctx)
	if err != nil {
		s.t.Fatalf("task %d, %s: %v", id, state, err)
	}
	if want := s.get(`SELECT format('{"id": %s, "state": "%s"}', $1::bigint, $2::text)`, id, state); n.Payload != want {
		s.t.Errorf("told %s, want %s", n.Payload, want)
	}
	if got := s.state(id); got != state {
		s.t.Errorf("told of %s, and the row says %s", state, got)
	}
}

// TestOnFailThatIsRefused is an end that is refused: the task FAILs all the same, and says why.
func TestOnFailThatIsRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("ALTER TABLE task ADD CONSTRAINT odd CHECK (input <> 'odd')")
	id := s.add("input, on_fail", "SELECT 1/0", "odd")
	s.becomes(id, "FAIL")
	if got := s.get("SELECT error LIKE '%odd%' FROM task WHERE id = $1", id); got != "true" {
		t.Error(s.get("SELECT error FROM task WHERE id = $1", id))
	}
}

// TestTaskSaysWhetherItIsTriedAgain by the codes TK001 and TK002.
func TestTaskSaysWhetherItIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION raise(code text, detail text) RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE 'so' USING ERRCODE = code, DETAIL = detail; END$$")
	add := func(code, detail string, retry int) int64 {
		return s.add("input, retry, backoff", "SELECT raise('"+code+"', '"+detail+"')", retry, "1 hour")
	}
	never, later, none, odd := add("TK001", "", 3), add("TK002", "20 days 5 s", 3), add("TK002", "1 s", 0), add("TK002", "soon", 3)
	s.becomes(never, "FAIL")
	s.becomes(none, "FAIL")
	for id, want := range map[int64]string{later: "20 days 00:00:05", odd: "01:00:00"} {
		s.eventually("1", "SELECT attempt FROM task WHERE id = $1", id)
		if got := s.get("SELECT format('%s %s', state, plan - (runs -> 0 ->> 'stop')::timestamptz BETWEEN $2::interval * 0.9 AND $2::interval * 1.1) FROM task WHERE id = $1", id, want); got != "PLAN t" {
			t.Error(want, got, s.get("SELECT row(plan, runs) FROM task WHERE id = $1", id))
		}
	}
	if got := s.get("SELECT format('%s %s', attempt, sqlstate) FROM task WHERE id = $1", never); got != "1 TK001" {
		t.Error(got)
	}
	soon := s.add("input, retry, backoff", "SELECT CASE WHEN current_setting('pg_task.attempt')::int < 3 THEN raise('TK002', '10 ms') END", 2, "1 hour")
	s.becomes(soon, "DONE")
}
