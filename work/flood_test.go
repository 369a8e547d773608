package work

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestTheQueueOfNotificationsIsLookedAt with the columns.
func TestTheQueueOfNotificationsIsLookedAt(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	queue := -1.0
	if err := l.control.conn.QueryRow(t.Context(), l.queries().Text("columns"), "public", "task").Scan(nil, nil, nil, &queue); err != nil || queue < 0 {
		t.Error(queue, err)
	}
}

// TestTasksThatAreToldTooMuchKeepTheirPlacesBriefly: all of them listen, so each session is told what
// all have notified, when its task is over.
func TestTasksThatAreToldTooMuchKeepTheirPlacesBriefly(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input) SELECT 'g' || i, 'LISTEN a; SELECT count(pg_notify(''a'', repeat(''x'', 7900) || j)) FROM generate_series(1, 2000) AS j' FROM generate_series(1, 8) AS i`)
	s.eventually("8", `SELECT count(*) FROM task WHERE "group" LIKE 'g_' AND state = 'DONE'`)
	began := time.Now()
	s.becomes(s.add(`input, "group"`, "SELECT 1", "other"), "DONE")
	if took := time.Since(began); took > servertest.Limit(10*time.Second) {
		t.Errorf("another task has waited for %s", took)
	}
	if got := s.get(`SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1`); got != "9" {
		t.Error(got, " are done")
	}
}
