package exec

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// several returns n tasks with the same input.
func several(n int, input string) (tasks []*Task) {
	for range n {
		tasks = append(tasks, spec(input))
	}
	return tasks
}

// pipe sends tasks in one pipeline, and reads results until the server skips the rest.
func (b *bench) pipe(tasks ...*Task) (results []*Result, starts []time.Time) {
	b.t.Helper()
	for i, task := range tasks {
		task.Settings = [][2]string{{"pg_task.id", strconv.Itoa(i + 1)}}
		if task.Until.IsZero() {
			task.Until = time.Now().Add(time.Hour)
		}
	}
	_, start, err := b.session.Begin(nil, tasks[0], tasks[1:]...)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, task := range tasks {
		result, err := b.session.Await(task)
		if err != nil {
			b.t.Fatal(task.Input, err)
		}
		results, starts = append(results, result), append(starts, start)
		if b.session.Behind() == 0 {
			b.end(result)
			break
		}
		if !result.Open {
			b.t.Fatalf("%s: %+v", task.Input, result)
		}
		verdict, next, begun, err := b.session.Next()
		if err != nil || !verdict.Committed && code(verdict.Failure) != "57014" {
			b.t.Fatalf("after %s: %+v %v", tasks[i].Input, verdict, err)
		}
		if start = next; !begun {
			break
		}
	}
	return results, starts
}

// alone runs one task to check the session.
func (b *bench) alone() {
	b.t.Helper()
	if s := b.session; s.Behind() != 0 {
		b.t.Fatal(s.Behind(), "tasks are behind")
	}
	result, _ := b.run(spec("SELECT 7"), nil)
	if output(result) != "7" {
		b.t.Fatal(output(result), result.Failure)
	}
	b.end(result)
}

// TestTasksOfAPipeline: each task of a pipeline has its own transaction, time and settings, and a
// fresh session.
func TestTasksOfAPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.alone()
	const shown = "SELECT current_setting('pg_task.id'), current_setting('work_mem'), current_setting('statement_timeout'), " +
		"(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), (SELECT count(*) FROM pg_cursors WHERE is_holdable), now() = statement_timestamp()"
	disturb := spec("SELECT set_config('work_mem', '1MB', false), pg_advisory_lock(1); SELECT set_config('transaction_read_only', 'off', true)")
	slow := spec("SELECT now(), pg_sleep(0.002)")
	slow.Timeout = time.Minute
	results, starts := b.pipe(disturb, spec(shown), slow, spec(shown), spec("SELECT 'last'"))
	if len(results) != 5 {
		t.Fatal(len(results), results[len(results)-1].Failure)
	}
	memory := b.get("current_setting('work_mem')")
	for i, id := range map[int]string{1: "2", 3: "4"} {
		want := id + "\t" + memory + "\t0\t0\t0\tf"
		if got := output(results[i]); got[len(got)-len(want):] != want {
			t.Errorf("%d: %q, not %q", i, got, want)
		}
	}
	for i := 1; i < len(starts); i++ {
		if before := results[i-1].Stop; starts[i].Before(before) || results[i].Stop.Before(starts[i]) {
			t.Errorf("%d began %v, the one before ended %v, it ended %v", i, starts[i], before, results[i].Stop)
		}
	}
	b.alone()
}

// TestEffectEndsPipeline: a task that writes is rolled back, and the tasks after it have not run.
// This is true for the last task as well, because others could have followed.
func TestEffectEndsPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION writes(i int4) RETURNS int4 LANGUAGE sql AS 'INSERT INTO ends VALUES (i, ''wrote'') RETURNING id'")
	b.exec("CREATE SEQUENCE drawn; INSERT INTO ends VALUES (1)")
	const effects = "SELECT count(*) + (SELECT count(*) FROM pg_largeobject_metadata) FROM ends"
	for _, writes := range []string{"SELECT writes(2)", "SELECT * FROM ends FOR UPDATE", "SELECT setval('drawn', 5)", "SELECT lo_creat(-1)", "SELECT txid_current()"} {
		for _, after := range [][]*Task{several(2, "SELECT writes(3)"), nil} {
			results, _ := b.pipe(append([]*Task{spec("SELECT 1"), spec(writes)}, after...)...)
			if len(results) != 2 || !results[1].Alone || results[1].Open || results[1].Wrote() || b.get(effects) != "1" {
				t.Errorf("%s, with %d after it: %d %+v", writes, len(after), len(results), results[len(results)-1])
			}
			b.alone()
		}
		alone, _ := b.run(spec(writes), nil)
		if !alone.Open || !alone.Wrote() || alone.Alone {
			t.Errorf("%s, alone: %+v", writes, alone)
		}
		b.rollback()
	}
	single := spec("SELECT writes(2)") // on a remote, with no task after it
	single.Query = true
	if result, _ := b.run(single, nil); !result.Alone || result.Open || b.get(effects) != "1" {
		t.Errorf("a query: %+v", result)
	}
	b.alone()
}

// TestPipelineIsExtended: more tasks can be sent while a task of the pipeline is under way. An
// error or effect ends the pipeline for them, too.
func TestPipelineIsExtended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION writes(i int4) RETURNS int4 LANGUAGE sql AS 'INSERT INTO ends VALUES (i, ''wrote'') RETURNING id'")
	b.exec("CREATE SEQUENCE passed")
	for _, c := range []struct {
		inputs []string // the first two are sent at once, the others one at a time
		run    int      // how many have a result
	}{
		{[]string{"SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"}, 5},
		{[]string{"SELECT 1", "SELECT 2", "SELECT 1/0", "SELECT nextval('passed')", "SELECT nextval('passed')"}, 3},
		{[]string{"SELECT 1", "SELECT 1/0", "SELECT nextval('passed')"}, 2},
		{[]string{"SELECT 1", "SELECT writes(2)", "SELECT nextval('passed')"}, 2},
		{[]string{"SELECT 1", "SELECT 2", "SELECT 3", "SELECT writes(4)", "SELECT writes(5)"}, 4},
		{[]string{"SELECT 1", "SELECT 2", "SELECT pg_sleep(0.01), set_config('pg_task.id', '0', false)", "SHOW pg_task.id"}, 4},
	} {
		var tasks []*Task
		for _, input := range c.inputs {
			task := spec(input)
			task.Settings, task.Until = [][2]string{{"pg_task.id", strconv.Itoa(len(tasks) + 1)}}, time.Now().Add(time.Hour)
			tasks = append(tasks, task)
		}
		if b.session.Takes() {
			t.Error("a session takes more before it has any")
		}
		_, _, err := b.session.Begin(nil, tasks[0], tasks[1])
		if err != nil {
			t.Fatal(err)
		}
		var results []*Result
		for i, task := range tasks {
			if i+2 < len(tasks) && b.session.Takes() {
				b.session.Extend(tasks[i+2])
			}
			result, err := b.session.Await(task)
			if err != nil {
				t.Fatal(err)
			}
			if results = append(results, result); b.session.Behind() == 0 {
				b.end(result)
				break
			}
			if _, _, begun, err := b.session.Next(); err != nil || !begun {
				t.Fatal(task.Input, begun, err)
			}
		}
		if len(results) != c.run || b.get("SELECT count(*) FROM ends") != "0" || b.get("SELECT is_called FROM passed") != "false" {
			t.Errorf("%q: %d have run, want %d", c.inputs, len(results), c.run)
		}
		if last := results[len(results)-1]; c.run == 4 && len(c.inputs) == 4 && output(last) != "4" {
			t.Errorf("the last was shown %s of itself", output(last))
		}
		b.alone()
	}
}

// TestErrorEndsPipeline: the tasks after a task that fails have not run.
func TestErrorEndsPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for input, code := range map[string]string{"SELECT 1/0": "22012", "SELECT": "", "SELEC 1": "42601"} {
		results, _ := b.pipe(spec("SELECT 1"), spec(input), spec("INSERT INTO ends VALUES (1, 'ran')"))
		switch {
		case code == "" && len(results) != 3:
			t.Error(input, len(results), results[len(results)-1].Failure)
		case code != "" && input != "SELEC 1" && (len(results) != 2 || results[1].Failure == nil || results[1].Failure.SQLState != code || results[1].Alone):
			t.Error(input, len(results), results[len(results)-1])
		}
		b.exec("TRUNCATE ends")
		b.alone()
	}
}

// TestLateTaskIsPassedOver: a task that is too late to begin has not run, and the session still
// works.
func TestLateTaskIsPassedOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	second, third := spec("SELECT 2"), spec("INSERT INTO ends VALUES (1, 'ran')")
	third.Until = time.Now().Add(-time.Hour)
	results, _ := b.pipe(spec("SELECT 1"), second, third)
	if len(results) != 2 || b.get("SELECT count(*) FROM ends") != "0" {
		t.Error(len(results), "have run")
	}
	b.alone()
	late := spec("SELECT count(*) FROM ends")
	late.Until = time.Now().Add(-time.Hour)
	results, _ = b.pipe(spec("SELECT count(*) FROM ends"), late, spec("SELECT 3"))
	if len(results) != 1 {
		t.Error(len(results), "have run")
	}
	b.alone()
	results, _ = b.pipe(several(3, "SELECT 1")...)
	if len(results) != 3 {
		t.Error(len(results), "have run")
	}
}

// TestNothingIsLeftInAPipeline: the next task finds nothing that a task has left in the session.
func TestNothingIsLeftInAPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION runs(sql text) RETURNS int4 LANGUAGE plpgsql AS $$BEGIN EXECUTE sql; RETURN 1; END$$`)
	for _, input := range []string{
		"PREPARE left_over AS SELECT 1", "DEALLOCATE ALL", "LISTEN a", "SET work_mem TO ''1MB''", "SET statement_timeout TO 1000", "SET search_path TO nowhere", "SET ROLE pg_monitor",
		"DECLARE c CURSOR WITH HOLD FOR SELECT 1", "SET default_transaction_isolation TO serializable", "SET default_transaction_read_only TO on",
		"SET idle_in_transaction_session_timeout TO 50", "SET client_encoding TO latin1", "SELECT pg_advisory_lock(7)",
	} {
		var results []*Result
		for tries := 0; tries < 20 && len(results) < 4; tries++ { // a busy machine may exceed a limit of 1 ms
			results, _ = b.pipe(spec("SELECT 1"), spec("SELECT public.runs('"+input+"')"), spec(leftovers), spec("SELECT 2"))
			if !strings.Contains(input, "timeout") {
				break
			}
		}
		if len(results) != 4 || output(results[2]) != "<null>" || output(results[3]) != "2" {
			last := results[len(results)-1]
			t.Errorf("%s: %d have run, the last shows %q %v", input, len(results), output(last), last.Failure)
			b.session.Close()
			b.open()
		}
		b.alone()
	}
}

// TestTheUserOfATaskIsNotThatOfTheNextInAPipeline: a role that a task sets ends with the task.
func TestTheUserOfATaskIsNotThatOfTheNextInAPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := b.get("SELECT session_user")
	for _, setting := range []string{"session_authorization", "role"} {
		results, _ := b.pipe(spec("SELECT set_config('"+setting+"', 'pg_monitor', false)"), spec("SELECT session_user || ' ' || current_user"))
		if len(results) != 2 || output(results[1]) != own+" "+own {
			t.Errorf("%s: the next is %s", setting, output(results[len(results)-1]))
		}
		b.alive()
	}
}
