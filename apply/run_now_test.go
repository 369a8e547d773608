package apply_test

import (
	"fmt"
	"testing"

	"pgtaskd/apply"
	"pgtaskd/server/servertest"
)

// TestRunNowCopiesTheNewestRow: one that waits, else one that runs, else the last. The series stays
// as it is.
func TestRunNowCopiesTheNewestRow(t *testing.T) {
	t.Parallel()
	const row = `INSERT INTO task (key, input, repeat, state, stop, plan, data, note, attempt, error, "group", until) VALUES ('a', 'SELECT 1', '1 hour', '%s', %s, '2020-01-01', '%s', 'mine', 3, 'e', 'g', '2100-01-01');`
	wait, pause, run := fmt.Sprintf(row, "PLAN", "NULL", "waits"), fmt.Sprintf(row, "STOP", "NULL", "paused"), fmt.Sprintf(row, "WORK", "NULL", "runs")
	ended := fmt.Sprintf(row, "DONE", "now()", "ended")
	for name, c := range map[string]struct{ before, want string }{
		"of what waits":   {ended + run + wait + ended, "waits"},
		"of a paused one": {ended + run + pause, "paused"},
		"of what runs":    {wait[:0] + ended + run + ended, "runs"},
		"of the last":     {fmt.Sprintf(row, "FAIL", "now()", "before") + ended, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			servertest.Replicate(t, s.conn, "ALTER TABLE task ADD note text; "+c.before)
			before := s.get("SELECT jsonb_agg(task ORDER BY id) FROM task")
			id, err := apply.RunNow(t.Context(), s.own, public, "a", false)
			if err != nil {
				t.Fatal(err)
			}
			s.equal("the copy", s.get("SELECT concat_ws(' ', data, state, key, repeat, cron, input, note, attempt, error, \"group\", plan > now() - interval '1 min', parent) FROM task WHERE id = $1", id), c.want+" PLAN 00:00:00 SELECT 1 mine 0 g t")
			s.equal("the job's rows", s.get("SELECT jsonb_agg(task ORDER BY id) FROM task WHERE id <> $1", id), before)
		})
	}
}

func TestRunNowOfAnUnknownKeyIsAnError(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (key, input) VALUES ('a', 'SELECT 1')")
	_, err := apply.RunNow(t.Context(), s.own, public, "b", false)
	if err == nil || err.Error() != `no task has this key: "b"` {
		t.Error(err)
	}
	s.equal("rows", s.get("SELECT count(*) FROM task"), "1")
}

// TestRunNowWhateverTheDefaults: the copy neither repeats nor waits.
func TestRunNowWhateverTheDefaults(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("ALTER TABLE task ALTER repeat SET DEFAULT '1 min', ALTER plan SET DEFAULT 'infinity', ALTER state SET DEFAULT 'STOP', ALTER key SET DEFAULT 'k'")
	s.exec("INSERT INTO task (key, input) VALUES ('a', 'SELECT 1')")
	id, err := apply.RunNow(t.Context(), s.own, public, "a", false)
	if err != nil {
		t.Fatal(err)
	}
	s.equal("the copy", s.get("SELECT concat_ws(' ', state, repeat, plan < 'infinity', key) FROM task WHERE id = $1", id), "PLAN 00:00:00 t")
}
