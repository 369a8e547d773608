package ask

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

func shown(t *testing.T, s *screen, target work.Target, id int64) string {
	t.Helper()
	if err := Show(t.Context(), s.Screen, []work.Target{target}, id); err != nil {
		t.Fatal(err)
	}
	return s.text()
}

// TestShowShowsAllOfATask: every column, the user's own too, but no password.
func TestShowShowsAllOfATask(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task ADD COLUMN customer text, ADD COLUMN spot point")
	put(t, tasks.Conn, `INSERT INTO task (id, input, state, active, error, output, remote, settings, after, runs, customer, spot, delimiter) VALUES
		(7, E'SELECT 1;\n  SELECT 2', 'FAIL', '25:30:00', E'ERROR:  no\r\nDETAIL:  never\r\n', '', 'host=db password=geheim', '{"a": [1]}', '{3,4}',
		'[{"start": "2030-01-01T00:00:00+00:00", "pid": 12345678, "state": "FAIL", "error": "ERROR:  first"}]', 'Smith', '(1,2)', E'\t')`)
	text := spaced.ReplaceAllString(shown(t, people(), target, 7), "  ")
	has(t, text, "task 7 of "+target.Name(), "\n  state  FAIL\n", "active  25 h 30 min\n", "customer  Smith\n", "spot  (1,2)\n", "delimiter  \"\\t\"\n",
		"remote  host=db\n", "settings  {\"a\": [1]}\n", "after  {3,4}\n", "error\n  ERROR:  no\n  DETAIL:  never\n", "input\n  SELECT 1;\n  SELECT 2\n",
		"runs\n  start 2030-01-01T00:00:00+00:00, pid 12345678, state FAIL, error ERROR:  first\n", "output\n  \n")
	hasNot(t, text, "geheim", "notice", "key  ")

	text = shown(t, program(), target, 7)
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err, text)
	}
	has(t, text, `"id":7`, `"state":"FAIL"`, `"output":""`, `"notice":null`, `"settings":{"a":[1]}`, `"after":[3,4]`, `"rerun":true`, `"customer":"Smith"`, `"input":"SELECT 1;\n  SELECT 2"`)
	hasNot(t, text, "geheim")
	if strings.Count(text, "\n") != 1 || len(object) < 50 {
		t.Error(text)
	}
	err := Show(t.Context(), people().Screen, []work.Target{target}, 8)
	if err == nil || !strings.Contains(err.Error(), "task 8") {
		t.Error(err)
	}
}

var spaced = regexp.MustCompile(` {2,}`)

// TestShowSaysWhyATaskWaits: by the table's function.
func TestShowSaysWhyATaskWaits(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input", "SELECT 1")
	servertest.Exec(t, tasks.Conn, "DROP FUNCTION IF EXISTS task_why(int8)")
	servertest.Exec(t, tasks.Conn, "CREATE FUNCTION task_why(id int8) RETURNS text LANGUAGE sql AS $$ SELECT 'because of ' || id $$")
	has(t, shown(t, people(), target, id), "because of 1\n")
	has(t, shown(t, program(), target, id), `"why":"because of 1"`)
}

// TestNothingReachesATerminalAsItIs: every command makes the texts of a table visible.
func TestNothingReachesATerminalAsItIs(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	const evil = "\x1b]0;evil\a\x1b[2Jhi\rthere"
	servertest.Exec(t, tasks.Conn, "ALTER TABLE task ADD COLUMN \"\x1b[31mred\" text DEFAULT 'x'")
	id := tasks.Add(`input, "group", key, data`, evil, evil, evil, evil)
	put(t, tasks.Conn, `UPDATE task SET state = 'FAIL', error = $1, output = $1, notice = $1, runs = jsonb_build_array(jsonb_build_object('error', $1::text))`, evil)
	other := target
	other.Table = evil
	targets := []work.Target{target}
	s := people()
	_ = ShowStatus(t.Context(), s.Screen, append(targets, other), 20*limit)
	_ = List(t.Context(), s.Screen, append(targets, other), Filter{})
	_ = Show(t.Context(), s.Screen, targets, id)
	_ = Stop(t.Context(), s.Screen, targets, []int64{id, id + 1})
	_ = Again(t.Context(), s.Screen, targets, []int64{id})
	has(t, s.text(), "hi")
	hasNot(t, s.text(), "\x1b", "\a", "\r")
}
