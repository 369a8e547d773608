package top

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"pgtaskd/human"
	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

const (
	hostile = "a\x1b[2J\u202eb\tc\r\n<script>字"
	escaped = `a\x1b[2J\u202eb\tc\x0d\n<script>字`
)

// jobsOfEachKind are in the order of the page: failing, paused, then by the next run.
const jobsOfEachKind = `INSERT INTO task (id, input, key, cron, state, plan, start, stop, error, sqlstate, failures) VALUES
	(1, '', 'later', '0 0 * * *', 'PLAN', '2100-01-02', NULL, NULL, NULL, NULL, 0), (2, '', 'soon', '0 0 * * *', 'PLAN', '2100-01-01', NULL, NULL, NULL, NULL, 0),
	(3, '', 'paused', '0 0 * * *', 'STOP', '2100-01-01', NULL, NULL, NULL, NULL, 0), (4, '', 'fails', NULL, 'FAIL', now(), now(), now(), 'ERROR:  it broke', 'P0001', 0);
	SELECT setval('task_id_seq', 100)`

// printed returns what Once prints.
func printed(t *testing.T, width int, targets ...work.Target) (string, error) {
	t.Helper()
	var b strings.Builder
	err := Once(t.Context(), &b, targets, width)
	for _, line := range strings.Split(b.String(), "\n") {
		if uniseg.StringWidth(line) > width || human.Visible(line) != line {
			t.Errorf("not for a terminal of %d columns: %q", width, line)
		}
	}
	return b.String(), err
}

// inOrder checks that a text has all parts, one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("lacks %q after what comes before it:\n%s", part, text)
		}
		rest = after
	}
}

// TestOncePrintsJobsByTroubleWhatRunsAndErrors of all targets, and says which cannot be read.
func TestOncePrintsJobsByTroubleWhatRunsAndErrors(t *testing.T) {
	t.Parallel()
	one, table := made(t)
	two, other := made(t)
	serve(t, one)
	put(table, jobsOfEachKind)
	table.Exec(`INSERT INTO task_group ("group", paused, note) VALUES ($1, true, $1)`, hostile)
	put(other, "INSERT INTO task (id, input, key, state, start, stop, error) VALUES (1, '', $1, 'FAIL', now(), now(), $2)", hostile, "ERROR:  "+hostile)
	runs := table.Add("input, key", "SELECT pg_sleep(600)", "long "+hostile)
	table.Becomes(patience, runs, "WORK")
	gone := single(t, "host=127.0.0.1 port=1 dbname=gone user=nobody")
	text, err := printed(t, 200, one, two, gone)
	if err != nil {
		t.Error(err)
	}
	inOrder(t, text, one.Name()+"  led by ", "PAUSED: "+escaped, two.Name()+"  NOBODY LEADS", gone.Name()+"  CANNOT BE READ: ", "refused",
		"Jobs: 6", "it broke", "paused", "soon", "2100-01-01 00:00 UTC", "later", "Running: 1", "101", "long "+escaped, "Timeout: PgSleep",
		"Errors: 2", "COUNT", "EXAMPLE")
	inOrder(t, text, "Jobs", escaped, "FAIL failed", two.Name(), "Running")
	inOrder(t, text, "Errors", `ERROR:  a\x1b[2J\u202eb\tc\x0d`, two.Name())
	for _, width := range []int{80, 40, 3} {
		_, _ = printed(t, width, one, two, gone)
	}
	if text, err := printed(t, 80, gone); !errors.Is(err, errUnread) || !strings.Contains(text, "CANNOT BE READ") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestKeysChooseFilterAndAct: an act is done after y, and only then.
func TestKeysChooseFilterAndAct(t *testing.T) {
	t.Parallel()
	target, table := made(t)
	put(table, jobsOfEachKind)
	s := opened(t, 100, 30, target)
	state := func(id int) string { return table.Get("SELECT state FROM task WHERE id = $1", id) }
	becomes := func(id int, want string) {
		t.Helper()
		servertest.Wait(t, patience, want, func() bool { return state(id) == want })
	}
	s.shows("fails", "paused", "soon", "later", "NOBODY LEADS")
	s.press("/SOON\n")
	s.shows("soon", "filter: SOON", "-later")
	s.press("c")
	s.shows("cancel task 2? y/n")
	s.press("n")
	s.shows("nothing was changed")
	s.press("p")
	s.shows("pause task 2? y/n")
	s.press("y")
	s.shows("pause task 2: done")
	becomes(2, "STOP")
	s.shows("STOP paused", "-PLAN")
	s.press("p")
	s.shows("resume task 2? y/n")
	s.press("y")
	becomes(2, "PLAN")
	s.press("ry")
	s.shows("run task 2: done")
	if got := table.Get("SELECT concat(count(*), min(key)) FROM task WHERE id > 100"); got != "1" {
		t.Error("copies: ", got)
	}
	s.press("\x1bkkkk")
	s.shows("fails", "-filter:")
	s.press("cy")
	s.shows("task 4 is left alone: it has ended (FAIL)")
	s.press("ay")
	becomes(4, "PLAN")
	s.press("jjc")
	s.shows("cancel task")
	s.press("\x1b?")
	s.shows("any key: back")
	s.press("q")
	s.shows("-any key: back")
	for id, want := range map[int]string{1: "PLAN", 2: "PLAN", 3: "STOP"} {
		if got := state(id); got != want {
			t.Errorf("task %d is %s", id, got)
		}
	}
	s.press("\t")
	s.shows("There are no rows")
	s.press("3")
	s.shows("it broke")
	s.press("q")
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// TestAServerThatGoesIsTriedAgain: it says so, and keeps what it knew.
func TestAServerThatGoesIsTriedAgain(t *testing.T) {
	t.Parallel()
	target, table := made(t)
	put(table, jobsOfEachKind)
	s := opened(t, 40, 12, target)
	s.shows("fails", "-Nothing can be read")
	table.Exec("ALTER TABLE task RENAME TO away")
	s.shows("Nothing can be read", "fails")
	table.Exec("ALTER TABLE away RENAME TO task")
	s.shows("fails", "-Nothing can be read")
	s.SetSize(120, 40)
	s.shows("LAST RUNS")
	s.SetSize(5, 2)
	s.press("jq")
	select {
	case <-s.ended:
	case <-time.After(servertest.Limit(patience)):
		t.Error("it goes on")
	}
}
