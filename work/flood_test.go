package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestTheQueueOfNotificationsIsLookedAt with the columns.
func TestTheQueueOfNotificationsIsLookedAt(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	queue := -1.0
	if err := l.control.Conn().QueryRow(t.Context(), l.control.Queries().Text("columns"), "public", "task").Scan(nil, nil, nil, &queue); err != nil || queue < 0 {
		t.Error(queue, err)
	}
}

// TestWhatATaskIsToldChangesNothingOfIt: it ends once, in whatever way it runs.
func TestWhatATaskIsToldChangesNothingOfIt(t *testing.T) {
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
