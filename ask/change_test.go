package ask

import (
	"errors"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// TestStopAndAgain checks their texts, their changes, and whether they succeed.
func TestStopAndAgain(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (id, input, state, start, stop, key, next) VALUES
		(1, '', 'PLAN', NULL, NULL, NULL, NULL), (2, '', 'WORK', now(), NULL, NULL, NULL), (3, '', 'DONE', now(), now(), NULL, NULL), (4, '', 'FAIL', now(), now(), NULL, 5),
		(5, '', 'PLAN', NULL, NULL, NULL, NULL), (6, '', 'STOP', NULL, NULL, NULL, NULL), (7, '', 'STOP', now(), now(), NULL, NULL), (8, '', 'GONE', now(), now(), 'k', NULL),
		(9, '', 'PLAN', NULL, NULL, 'k', NULL)`)
	for _, c := range []struct {
		command, name string
		id            int64
		does          bool
		says, state   string
	}{
		{"stop", "what waits", 1, true, "waits, and is paused", "STOP"},
		{"stop", "what is paused", 1, true, "paused already", "STOP"},
		{"stop", "what runs", 2, true, "is being cancelled", "STOP"},
		{"stop", "what has ended", 3, true, "nothing to stop", "DONE"},
		{"stop", "what has a repetition", 4, true, "its repetition 5 is stopped", "FAIL"},
		{"again", "that repetition", 5, false, "it is paused", "STOP"},
		{"again", "what has ended", 3, true, "had ended (DONE)", "PLAN"},
		{"again", "what waits", 3, false, "has not ended: it is PLAN", "PLAN"},
		{"again", "what is paused", 6, false, "UPDATE … SET state = 'PLAN'", "STOP"},
		{"again", "what was stopped", 7, true, "had ended (STOP)", "PLAN"},
		{"again", "what another task of the key waits for", 8, false, "cannot be changed", "GONE"},
		{"again", "nothing", 99, false, "is not in the table", ""},
		{"stop", "nothing", 99, false, "is not in the table", ""},
	} {
		s := people()
		do := Stop
		if c.command == "again" {
			do = Again
		}
		err := do(t.Context(), s.Screen, []work.Target{target}, []int64{c.id})
		if (err == nil) != c.does || err != nil && !errors.Is(err, ErrFailed) || !strings.Contains(s.text(), c.says) || tasks.State(c.id) != c.state {
			t.Errorf("%s %s: %v %s %s", c.command, c.name, err, s.text(), tasks.State(c.id))
		}
		if (s.out.Len() > 0) != c.does {
			t.Errorf("%s %s: %s", c.command, c.name, s.text())
		}
	}
	s := program()
	if err := Stop(t.Context(), s.Screen, []work.Target{target}, []int64{99, 9}); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.objects.String(), `"id":99,"done":false`, `"id":9,"was":"PLAN","done":true`)
}

// TestChangesNeedOneTable: among several targets, the user must choose one.
func TestChangesNeedOneTable(t *testing.T) {
	t.Parallel()
	target := single(t, "host=/nowhere dbname=a")
	for _, err := range []error{
		Stop(t.Context(), people().Screen, []work.Target{target, target}, []int64{1}),
		Again(t.Context(), people().Screen, []work.Target{target, target}, []int64{1}),
		Show(t.Context(), people().Screen, []work.Target{target, target}, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), "--target") || !strings.Contains(err.Error(), "a/public/task") {
			t.Error(err)
		}
	}
}

// TestStopCancelsWhatRuns: and Again runs the task once more, while the table is served.
func TestStopCancelsWhatRuns(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	serve(t, target)
	id := tasks.Add("input", "SELECT pg_sleep(60)")
	tasks.Becomes(patient, id, "WORK")
	if err := Stop(t.Context(), people().Screen, []work.Target{target}, []int64{id}); err != nil {
		t.Fatal(err)
	}
	servertest.Wait(t, patient, "the end", func() bool { return tasks.Row(id).Text("stop") != servertest.Null })
	servertest.Exec(t, tasks.Conn, "UPDATE task SET input = 'SELECT 1' WHERE id = $1", id)
	if err := Again(t.Context(), people().Screen, []work.Target{target}, []int64{id}); err != nil {
		t.Fatal(err)
	}
	tasks.Becomes(patient, id, "DONE")
}
