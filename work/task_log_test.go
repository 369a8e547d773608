package work

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgtaskd/work/target"
)

// taskLines are the log lines about tasks, by their ids.
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

// TestFailedTasksAreLogged: each task that failed, or was not started in time, gets one line. Its
// error shows no password. All other tasks get a line if the target wants that.
func TestFailedTasksAreLogged(t *testing.T) {
	t.Parallel()
	tasks := target.NewTaskLog(target.LogFailed)
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
		failed: {"level": "warn", "message": "task failed", "state": "FAIL", "group": `mail\n`, "key": "nightly", "sqlstate": "ABCDE", "error": "ERROR:  no \x1b[2J password=***"},
		late:   {"level": "warn", "message": "task given up: it is not run", "state": "GONE", "group": "group", "error": "ERROR:  task not active", "detail": "not started within active (1 hour) of its plan"},
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
	tasks.Set(target.LogAll)
	more := s.add("input", "SELECT 1 AS a")
	s.until("all", func() bool { return s.taskLines()[more]["message"] == "task ended" })
	tasks.Set(target.LogNone)
	none := s.add("input", "SELECT 1/0")
	s.until("the failure", func() bool { return s.state(none) == "FAIL" })
	if line := s.taskLines()[none]; line != nil {
		t.Errorf("%v", line)
	}
	if strings.Contains(s.logged(), "hush") {
		t.Error("the log shows a password")
	}
}

// TestNamesInTheLogAreLegible: the log shows the beginning of the names of groups and keys, and no
// terminal obeys them. The same holds for a task that runs during a drain.
func TestNamesInTheLogAreLegible(t *testing.T) {
	t.Parallel()
	const begins = "\x1b[2J\u202e\nä"
	const shown = `\x1b[2J\u202e\nä`
	s := play(t, func(t *Target) { t.TaskLog, t.Grace = target.NewTaskLog(target.LogFailed), 0 })
	want := map[int64][2]string{}
	for group, begin := range map[string]string{begins: shown, begins + strings.Repeat("g", 60_000): shown + strings.Repeat("g", 90)} {
		for _, plan := range []string{"2020-01-01", "now"} {
			n := strconv.Itoa(len(want))
			id := s.add(`input, "group", key, plan`, "SELECT 1/0", group, "\x01"+n+begins+strings.Repeat("k", 500), plan)
			want[id] = [2]string{begin, `\x01` + n + shown + strings.Repeat("k", 91)}
		}
	}
	s.until("the lines", func() bool { return len(s.taskLines()) == len(want) })
	for id, line := range s.taskLines() {
		for i, column := range []string{"group", "key"} {
			got, begin := line[column].(string), want[id][i]
			if !strings.HasPrefix(got, begin) || strings.Trim(got[len(begin):], "gk") != "…" && got != shown {
				t.Errorf("%s of %s: %q, not %q…", column, line["state"], got, begin)
			}
		}
	}
	id := s.add(`input, "group"`, "SELECT pg_sleep(60)", begins+strings.Repeat("g", 60_000))
	s.becomes(id, "WORK")
	s.drain()
	for text := range strings.Lines(s.logged()) {
		if len(text) > 2000 {
			t.Errorf("a line of %d bytes: %s…", len(text), text[:300])
		}
	}
}
