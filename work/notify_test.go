package work

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestNotify: each kind of end is notified once, with its commit.
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

// told waits for the notification of an end, which must be the next notification.
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

// TestATaskThatListensEndsOnce: notifications to its session do not disturb it, however it runs.
func TestATaskThatListensEndsOnce(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) {
		target.Remotes = map[string]string{"itself": fmt.Sprintf("host=%s port=%s user=%s dbname=%s", target.Connect["host"], target.Connect["port"], target.Connect["user"], target.Connect["dbname"])}
	})
	s.exec("CREATE TABLE effect (id text)")
	const told = "SELECT count(pg_notify('a', repeat('x', 7900) || j)) FROM generate_series(1, 400) AS j"
	for name, c := range map[string]struct{ sql, remote string }{
		"in one transaction":  {"LISTEN a; INSERT INTO effect VALUES ('$'); " + told, ""},
		"in two":              {"LISTEN a; INSERT INTO effect VALUES ('$'); COMMIT; " + told, ""},
		"elsewhere":           {"LISTEN a; INSERT INTO effect VALUES ('$'); " + told, "itself"},
		"elsewhere, in two":   {"LISTEN a; INSERT INTO effect VALUES ('$'); COMMIT; " + told, "itself"},
		"outside of any":      {"CALL two()", ""},
		"nothing but a query": {"LISTEN a; " + told, ""},
	} {
		if name == "outside of any" {
			s.exec("CREATE PROCEDURE two() LANGUAGE plpgsql AS $$BEGIN LISTEN a; INSERT INTO effect VALUES ('outside of any'); COMMIT; PERFORM pg_notify('a', repeat('x', 7900) || j) FROM generate_series(1, 400) AS j; END$$")
		}
		id := s.add(`input, "group", remote`, strings.ReplaceAll(c.sql, "$", name), name, c.remote)
		s.becomes(id, "DONE", "FAIL")
		if row := s.row(id, "state, attempt"); row != `{"state":"DONE","attempt":1}` {
			t.Error(name, ": ", row, s.row(id, "error"))
		}
	}
	if twice := s.get("SELECT coalesce(string_agg(id, ', '), 'none') FROM (SELECT id FROM effect GROUP BY id HAVING count(*) > 1) AS e"); twice != "none" {
		t.Error("twice: ", twice)
	}
}

// TestTheQueueOfNotificationsIsReadWithTheColumns: columns.sql returns its usage.
func TestTheQueueOfNotificationsIsReadWithTheColumns(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	queue := -1.0
	if err := l.control.Conn().QueryRow(t.Context(), l.control.Queries().Text("columns"), "public", "task").Scan(nil, nil, nil, &queue); err != nil || queue < 0 {
		t.Error(queue, err)
	}
}
