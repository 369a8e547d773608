package edit_test

import (
	"errors"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/web/edit"
)

// rowsOfEachKind are tasks in all states that matter to an act.
const rowsOfEachKind = `INSERT INTO task (id, input, state, start, stop, stopping, key, error) VALUES
	(1, '', 'PLAN', NULL, NULL, NULL, NULL, NULL), (2, '', 'WORK', now(), NULL, NULL, NULL, NULL), (3, '', 'DONE', now(), now(), NULL, NULL, NULL),
	(4, '', 'STOP', NULL, NULL, NULL, NULL, NULL), (5, '', 'STOP', now(), NULL, true, NULL, NULL), (6, '', 'STOP', now(), now(), NULL, NULL, 'e'),
	(7, '', 'GONE', now(), now(), NULL, 'k', NULL), (8, '', 'PLAN', NULL, NULL, NULL, 'k', NULL);
	SELECT setval('task_id_seq', 100)`

// TestActsOnOneTask: what each does in each state, and what it leaves alone.
func TestActsOnOneTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		do     string
		id     int64
		status int // 0: it is done
		want   string
	}{
		{"cancel", 1, 0, "STOP ended ERROR:  task was cancelled by ann"},
		{"cancel", 2, 0, "STOP stopping"},
		{"cancel", 3, 409, "DONE ended"},
		{"cancel", 4, 0, "STOP ended ERROR:  task was cancelled by ann"},
		{"cancel", 5, 409, "STOP stopping"},
		{"cancel", 6, 409, "STOP ended e"},
		{"cancel", 9, 404, ""},
		{"pause", 1, 0, "STOP"},
		{"pause", 2, 409, "WORK"},
		{"pause", 3, 409, "DONE ended"},
		{"pause", 4, 409, "STOP"},
		{"resume", 1, 409, "PLAN"},
		{"resume", 4, 0, "PLAN"},
		{"resume", 5, 409, "STOP stopping"},
		{"resume", 6, 409, "STOP ended e"},
		{"again", 1, 409, "PLAN"},
		{"again", 3, 0, "PLAN"},
		{"again", 5, 409, "STOP stopping"},
		{"again", 6, 0, "PLAN e"},
		{"again", 7, 409, "GONE ended"}, // another task of the key waits
		{"run", 2, 0, "WORK"},
		{"delete", 1, 0, ""},
		{"delete", 2, 0, ""},
		{"delete", 3, 0, ""},
		{"delete", 9, 404, ""},
	} {
		t.Run(c.do+" "+string(rune('0'+c.id)), func(t *testing.T) {
			t.Parallel()
			s := staged(t)
			s.put(rowsOfEachKind)
			err := s.one(edit.Doing{Do: c.do, By: "ann"}, c.id)
			var refused *edit.Refused
			if errors.As(err, &refused); c.status == 0 && err != nil || c.status != 0 && (refused == nil || refused.Status != c.status) {
				t.Error(err)
			}
			got := s.Get(`SELECT coalesce((SELECT concat_ws(' ', state, CASE WHEN stop IS NOT NULL THEN 'ended' END, CASE WHEN stopping THEN 'stopping' END, error) FROM task WHERE id = $1), '')`, c.id)
			if got != c.want {
				t.Errorf("it is %q, not %q", got, c.want)
			}
		})
	}
}

// TestRunCopiesATask: beside the beat, with other data if that is given.
func TestRunCopiesATask(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`ALTER TABLE task ADD note text, ALTER repeat SET DEFAULT '1 min', ALTER key SET DEFAULT 'd', ALTER state SET DEFAULT 'STOP', ALTER plan SET DEFAULT 'infinity', ALTER "after" SET DEFAULT '{1}'`)
	id := s.Add(`input, data, note, cron, repeat, key, "group", state, error, "after"`, "SELECT 1", "before", "mine", "0 0 * * *", "0", "job", "g", "PLAN", "e", nil)
	for data, want := range map[string]string{"": "before", "other'\\": "other'\\"} {
		d := edit.Doing{Do: "run", By: "ann"}
		if data != "" {
			d.Data = &data
		}
		if err := s.one(d, id); err != nil {
			t.Fatal(err)
		}
		got := s.Get("SELECT concat_ws(' ', data, note, state, cron, repeat, key, \"group\", plan < now() + interval '1 min', parent, error, after) FROM task ORDER BY id DESC LIMIT 1")
		if want += " mine PLAN 00:00:00 g t"; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// TestCancelWhileServed: what runs ends as STOP, nothing follows it, and who waits for it is GONE.
func TestCancelWhileServed(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.served()
	runs := s.Add("input, repeat", "SELECT pg_sleep(60)", "1 hour")
	waits := s.Add("input, plan, repeat, notify", "SELECT 1", "2100-01-01", "1 hour", "ends")
	paused := s.Add("input, state", "SELECT 1", "STOP")
	after := map[int64]int64{}
	for _, id := range []int64{runs, waits, paused} {
		after[id] = s.Add("input, after", "SELECT 1", []int64{id})
	}
	last := s.Add("input, after", "SELECT 1", []int64{after[waits]})
	s.Becomes(patience, runs, "WORK")
	servertest.Wait(t, patience, "the leader to know who waits", func() bool {
		return s.Get("SELECT count(*) FROM task WHERE awaits IS NOT NULL") == "4"
	})
	for id := range after {
		if err := s.one(edit.Doing{Do: "cancel", By: "ann"}, id); err != nil {
			t.Fatal(err)
		}
	}
	for id, follower := range after {
		servertest.Wait(t, patience, "the end", func() bool { return s.Row(id).Text("stop") != servertest.Null })
		s.Becomes(patience, follower, "GONE")
		if got := s.Get("SELECT concat_ws(' ', state, sqlstate, next) FROM task WHERE id = $1", id); got != "STOP 57014" {
			t.Errorf("task %d: %s", id, got)
		}
	}
	s.Becomes(patience, last, "GONE")
	if got := s.Get("SELECT count(*) FROM task"); got != "7" {
		t.Error("there are repetitions: ", got)
	}
	if err := s.one(edit.Doing{Do: "again", By: "ann"}, paused); err != nil {
		t.Fatal(err)
	}
	s.Becomes(patience, paused, "DONE", "")
}
