package work

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// taskLines are the lines of the log that tell of tasks, by their ids.
func (s *stage) taskLines() map[int64]map[string]any {
	found := map[int64]map[string]any{}
	for text := range strings.Lines(s.logged()) {
		line := map[string]any{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatal(err)
		}
		if message, _ := line["message"].(string); strings.HasPrefix(message, "task ") {
			found[int64(line["id"].(float64))] = line
		}
	}
	return found
}

// TestFailedTasksAreLogged: what has failed, or was not started in time, is one line, without the
// password in its error; all others are a line where that is wanted.
func TestFailedTasksAreLogged(t *testing.T) {
	t.Parallel()
	tasks := NewTaskLog(LogFailed)
	s := play(t, func(t *Target) { t.TaskLog = tasks })
	well := s.add("input", "SELECT 1 AS a")
	failed := s.add("input, \"group\", key", "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'ABCDE', MESSAGE = E'no \\x1b[2J password=hush\\nsecond'; END $$", "mail\n", "nightly")
	late := s.add("input, plan", "SELECT 1", "2020-01-01")
	again := s.add("input, retry", "SELECT 1/0", "1")
	s.until("the ends", func() bool {
		lines := s.taskLines()
		return s.state(well) == "DONE" && lines[failed] != nil && lines[late] != nil && s.get("SELECT attempt FROM task WHERE id = $1", again) == "1"
	})
	lines := s.taskLines()
	if lines[well] != nil || lines[again] != nil {
		t.Errorf("%v, %v", lines[well], lines[again])
	}
	for id, want := range map[int64]map[string]any{
		failed: {"level": "warn", "message": "task failed", "state": "FAIL", "group": "mail\n", "key": "nightly", "sqlstate": "ABCDE", "error": "ERROR:  no \x1b[2J password=***"},
		late:   {"level": "warn", "message": "task failed", "state": "GONE", "group": "group", "error": "ERROR:  task not active"},
	} {
		for name, value := range want {
			if lines[id][name] != value {
				t.Errorf("%s is %q, not %q", name, lines[id][name], value)
			}
		}
	}
	if ran, _ := lines[failed]["ran"].(string); !strings.HasSuffix(ran, "s") {
		t.Errorf("ran %q", ran)
	}
	tasks.Set(LogAll)
	more := s.add("input", "SELECT 1 AS a")
	s.until("all", func() bool { return s.taskLines()[more]["message"] == "task ended" })
	tasks.Set(LogNone)
	none := s.add("input", "SELECT 1/0")
	s.until("the failure", func() bool { return s.state(none) == "FAIL" })
	if line := s.taskLines()[none]; line != nil {
		t.Errorf("%v", line)
	}
	if strings.Contains(s.logged(), "hush") {
		t.Error("the log shows a password")
	}
}

// TestLinesAboutTasksAreBounded: a burst, then so many a second; what is left out is counted.
func TestLinesAboutTasksAreBounded(t *testing.T) {
	t.Parallel()
	var th throttle
	now := time.Now()
	written := func(of int) (n int) {
		for range of {
			if th.allows(now) {
				n++
			}
		}
		return n
	}
	if n := written(1000); n != lineBurst {
		t.Errorf("%d lines of 1000", n)
	}
	if n := th.takeLeftOut(now); n != 1000-lineBurst {
		t.Errorf("%d were left out", n)
	}
	now = now.Add(time.Second)
	if n := written(1000); n != int(time.Second/linesEach) {
		t.Errorf("%d lines a second", n)
	}
	if n := th.takeLeftOut(now); n != 0 {
		t.Error("the count is written too often")
	}
	now = now.Add(leftOutTick)
	if n := th.takeLeftOut(now); n != 990 {
		t.Errorf("%d were left out", n)
	}
	now = now.Add(time.Minute)
	if n := written(1000); n != lineBurst {
		t.Errorf("%d lines after a rest", n)
	}
}

// TestPasswordsInErrorsAreMasked, however SQL has put them there.
func TestPasswordsInErrorsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ERROR:  host=a password=hush dbname=b":           "ERROR:  host=a password=*** dbname=b",
		"ERROR:  host=a PASSWORD = 'hush hush' x":         "ERROR:  host=a PASSWORD = *** x",
		"ERROR:  postgres://u:hush@h/d":                   "ERROR:  postgres://u:***@h/d",
		"ERROR:  ALTER ROLE a PASSWORD 'hush'":            "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  ALTER ROLE a PASSWORD 'hus":              "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  password authentication failed for user": "ERROR:  password authentication failed for user",
	} {
		if got := masked(text); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
