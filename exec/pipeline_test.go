package exec

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipe sends tasks one behind the other, and runs them until the server passes over the rest.
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
			b.end(result, "")
			break
		}
		if !result.Open {
			b.t.Fatalf("%s: %+v", task.Input, result)
		}
		verdict, next, begun, err := b.session.Next()
		if err != nil || !verdict.Committed {
			b.t.Fatalf("after %s: %+v %v", tasks[i].Input, verdict, err)
		}
		if start = next; !begun {
			break
		}
	}
	return results, starts
}

// alone runs one task, to see that the session is well.
func (b *bench) alone() {
	b.t.Helper()
	if s := b.session; s.Behind() != 0 {
		b.t.Fatal(s.Behind(), "tasks are behind")
	}
	task := spec("SELECT 7")
	task.Settings = [][2]string{{"pg_task.id", "7"}}
	result, _ := b.run(task, nil)
	if output(result) != "7" {
		b.t.Fatal(output(result), result.Failure)
	}
	b.end(result, "")
}

// TestEncodingIsReset: what a task shows is read in the encoding in which it is sent, which is not
// that of the one before.
func TestEncodingIsReset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION umlaut() RETURNS text STABLE LANGUAGE sql AS $$SELECT chr(228)$$;
		CREATE FUNCTION latin() RETURNS text LANGUAGE sql AS $$SELECT set_config('client_encoding', 'LATIN1', false)$$`)
	results, _ := b.pipe(append(several(2, "SELECT latin()"), several(3, "SELECT umlaut()")...)...)
	for i, result := range results {
		if want := "LATIN1"; i < 2 && output(result) != want || i >= 2 && output(result) != "ä" {
			t.Error(i, output(result), result.Failure)
		}
	}
	if len(results) != 5 {
		t.Fatal(len(results), results[len(results)-1].Failure)
	}
	for range 2 {
		tasks := []*Task{spec("SELECT latin()"), spec("SELECT umlaut()")}
		for _, task := range tasks {
			task.Settings = [][2]string{{"pg_task.id", "1"}}
		}
		first, _ := b.run(tasks[0], nil)
		second, _ := b.run(tasks[1], &Tail{})
		if output(second) != "ä" {
			t.Error(output(second), first.Failure, second.Failure)
		}
		b.end(second, "")
	}
	keep := []*Task{spec("SELECT latin()"), spec("SELECT umlaut(), 1"), spec("SELECT umlaut()")}
	for i, task := range keep {
		task.Save, task.Keep = true, i > 0
	}
	results, _ = b.pipe(keep...)
	if len(results) != 3 || output(results[2]) != "ä" {
		t.Error(len(results), output(results[len(results)-1]))
	}
}

// TestTasksOfAPipeline: each task of a pipeline has a transaction, a time, settings and a fresh
// session of its own.
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

// TestEffectEndsPipeline: a task that turns out to write is rolled back, and what is behind it has
// not run; so is the last, behind which others might have been sent.
func TestEffectEndsPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION writes(i int4) RETURNS int4 LANGUAGE sql AS 'INSERT INTO ends VALUES (i, ''wrote'') RETURNING id'")
	for _, save := range []bool{false, true} {
		one, two, three := spec("SELECT 1"), spec("SELECT writes(2)"), spec("SELECT writes(3)")
		two.Save, two.Keep, three.Save = save, save, save
		one.Save = save
		results, _ := b.pipe(one, two, three)
		if len(results) != 2 || !results[1].Alone || results[1].Open || b.get("SELECT count(*) FROM ends") != "0" {
			t.Errorf("save %v: %d %+v", save, len(results), results[len(results)-1])
		}
		b.alone()
		results, _ = b.pipe(spec("SELECT 1"), spec("SELECT writes(2)"))
		if len(results) != 2 || !results[1].Alone || results[1].Open || b.get("SELECT count(*) FROM ends") != "0" {
			t.Errorf("the last: %d %+v", len(results), results[len(results)-1])
		}
		b.alone()
	}
}

// TestPipelineIsExtended: tasks can be sent behind those that are with the server as long as one of
// them is under way, and what ends the pipeline ends for them, too.
func TestPipelineIsExtended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION writes(i int4) RETURNS int4 LANGUAGE sql AS 'INSERT INTO ends VALUES (i, ''wrote'') RETURNING id'")
	b.exec("CREATE SEQUENCE passed")
	for i, c := range []struct {
		inputs []string // the first two are sent at once, the others one at a time
		run    int      // that many have a result
	}{
		{[]string{"SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"}, 5},
		{[]string{"SELECT 1", "SELECT 2", "SELECT 1/0", "SELECT nextval('passed')", "SELECT nextval('passed')"}, 3},
		{[]string{"SELECT 1", "SELECT 1/0", "SELECT nextval('passed')"}, 2},
		{[]string{"SELECT 1", "SELECT writes(2)", "SELECT nextval('passed')"}, 2},
		{[]string{"SELECT 1", "SELECT 2", "SELECT 1/0", "SELECT nextval('passed')", "SELECT nextval('passed')"}, 3}, // with state that is kept
		{[]string{"SELECT 1", "SELECT 2", "SELECT 3", "SELECT writes(4)", "SELECT writes(5)"}, 4},
		{[]string{"SELECT 1", "SELECT 2", "SELECT pg_sleep(0.01), set_config('pg_task.id', '0', false)", "SHOW pg_task.id"}, 4},
	} {
		var tasks []*Task
		for _, input := range c.inputs {
			task := spec(input)
			task.Settings, task.Until = [][2]string{{"pg_task.id", strconv.Itoa(len(tasks) + 1)}}, time.Now().Add(time.Hour)
			task.Save, task.Keep = i == 4, i == 4 && len(tasks) > 0
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
				b.end(result, "")
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

// TestSilenceAfterPipeline: where nothing follows on a pipeline the server is ready, so that its
// limits for a session that says nothing hold.
func TestSilenceAfterPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE here (a int8)")
	b.session.silence = "100ms"
	query := func(input string) *Task {
		task := spec(input)
		task.Query, task.Until = true, time.Now().Add(time.Hour)
		return task
	}
	tasks := []*Task{query("SELECT 1"), query("SELECT 2"), query("SELECT count(*) FROM here")}
	if _, _, err := b.session.Begin(nil, tasks[0], tasks[1]); err != nil {
		t.Fatal(err)
	}
	b.session.Extend(tasks[2])
	for i, task := range tasks {
		if result, err := b.session.Await(task); err != nil || !result.Open {
			t.Fatal(result, err)
		}
		if i == 2 {
			break
		}
		if _, _, begun, err := b.session.Next(); err != nil || !begun {
			t.Fatal(begun, err)
		}
	}
	b.exec("SET lock_timeout TO '10s'")
	b.exec("ALTER TABLE here ADD b int8") // when the session is gone, and its lock
}

// TestPipelineTerminated: a session that is ended while more is sent behind its task tells why.
func TestPipelineTerminated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 5 {
		b.open()
		tasks := []*Task{spec("SELECT 1"), spec("SELECT pg_sleep(60)"), spec("SELECT 3")}
		for _, task := range tasks {
			task.Until = time.Now().Add(time.Hour)
		}
		if _, _, err := b.session.Begin(nil, tasks[0], tasks[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := b.session.Await(tasks[0]); err != nil {
			t.Fatal(err)
		}
		if _, _, begun, err := b.session.Next(); err != nil || !begun {
			t.Fatal(begun, err)
		}
		b.exec("SELECT pg_terminate_backend(" + strconv.Itoa(int(b.session.PID)) + ")")
		for !errors.Is(syscall.Kill(int(b.session.PID), 0), syscall.ESRCH) { // so that the socket is closed
			time.Sleep(time.Millisecond)
		}
		b.session.Extend(tasks[2])
		var lost *Lost
		if _, err := b.session.Await(tasks[1]); !errors.As(err, &lost) || lost.Fatal == nil || lost.Fatal.Code != "57P01" {
			t.Errorf("%v", err)
		}
	}
}

// TestPipelineKnowsWhatIsPrepared: what the server has passed over is not taken for prepared, and
// what it has prepared before that is not prepared again.
func TestPipelineKnowsWhatIsPrepared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 3 {
		late := spec("SELECT 2")
		late.Until = time.Now().Add(-time.Hour)
		b.pipe(spec("SELECT 1"), late, spec("SELECT 3"))
		if !b.session.Clean() {
			t.Fatal("it is not known what is prepared")
		}
		b.alone()
	}
	results, _ := b.pipe(spec("SELECT 1"), spec("SELECT 2"), spec("SELECT 3"))
	if len(results) != 3 {
		t.Error(len(results), "have run")
	}
}

// TestErrorEndsPipeline: what is behind a task that fails has not run.
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

// TestLateTaskIsPassedOver: a task whose time to begin is over has not run, and the session is none
// the worse.
func TestLateTaskIsPassedOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 { // till all that it says is prepared
		b.pipe(spec("SELECT 1"), spec("SELECT 2"))
	}
	second, third := spec("SELECT 2"), spec("INSERT INTO ends VALUES (1, 'ran')")
	third.Until = time.Now().Add(-time.Hour)
	results, _ := b.pipe(spec("SELECT 1"), second, third)
	if len(results) != 2 || !b.session.Clean() || b.get("SELECT count(*) FROM ends") != "0" {
		t.Error(len(results), b.session.Clean())
	}
	b.alone()
}

// TestPipelineKeepsState: tasks with save find what those before them in the pipeline have left,
// until a function may have left what is not seen.
func TestPipelineKeepsState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kept := func(input string) *Task {
		task := spec(input)
		task.Save, task.Keep = true, true
		return task
	}
	first := kept("SELECT set_config('work_mem', '1MB', false)")
	first.Keep = false
	results, _ := b.pipe(first, kept("SHOW work_mem"), kept("SHOW work_mem"))
	if len(results) != 3 || output(results[2]) != "1MB" {
		t.Fatal(len(results), output(results[len(results)-1]))
	}
	for _, odd := range []string{
		"SELECT set_config('default_transaction_isolation', 'serializable', false)",
		"SELECT loads()",
	} {
		b.exec("CREATE OR REPLACE FUNCTION loads() RETURNS int4 LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'")
		results, _ = b.pipe(kept("SELECT 1"), kept(odd), kept("SELECT 2"))
		if len(results) != 2 || !results[1].Alone {
			t.Errorf("%s: %d %+v", odd, len(results), results[len(results)-1])
		}
		b.alone()
	}
}

// TestLanguageEndsPipeline: when a procedural language has been at work, what is behind it is
// passed over, as the session must be looked at more closely.
func TestLanguageEndsPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION prepares() RETURNS int4 LANGUAGE plpgsql AS $$BEGIN EXECUTE 'PREPARE left_over AS SELECT 1'; RETURN 1; END$$")
	results, _ := b.pipe(spec("SELECT prepares()"), spec("INSERT INTO ends VALUES (1, 'ran')"))
	if len(results) != 1 || b.session.Clean() || b.get("SELECT count(*) FROM ends") != "0" {
		t.Error(len(results), b.session.Clean())
	}
	look := spec("SELECT count(*) FROM pg_prepared_statements WHERE name = 'left_over'")
	look.Settings = [][2]string{{"pg_task.id", "3"}}
	result, _ := b.run(look, nil)
	if output(result) != "0" {
		t.Error(output(result))
	}
	b.end(result, "")
}

// TestPipelineKeepsUser: who a task makes the session's user is not that of the next.
func TestPipelineKeepsUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := b.get("SELECT session_user")
	for _, setting := range []string{"session_authorization", "role"} {
		results, _ := b.pipe(spec("SELECT set_config('"+setting+"', 'pg_monitor', false)"), spec("SELECT session_user || ' ' || current_user"))
		if len(results) != 1 {
			t.Errorf("%s: the next is %s", setting, output(results[1]))
		}
		look := spec("SELECT session_user || ' ' || current_user")
		look.Settings = [][2]string{{"pg_task.id", "3"}}
		result, _ := b.run(look, nil)
		if output(result) != own+" "+own {
			t.Error(setting, output(result))
		}
		b.end(result, "")
		b.open()
	}
}

// TestPipelineAfterFailure: the reset that was rolled back with a task is done once, before the
// first of a pipeline that wants to keep its state.
func TestPipelineAfterFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.alone()
	first, failing := spec("SELECT 1"), spec("SELECT 1/0")
	for _, task := range []*Task{first, failing} {
		task.Settings = [][2]string{{"pg_task.id", "0"}}
	}
	_, _ = b.run(first, nil)
	_, _ = b.run(first, &Tail{})
	_, _ = b.run(failing, &Tail{})
	kept := func(input string) *Task {
		task := spec(input)
		task.Save, task.Keep = true, true
		return task
	}
	results, _ := b.pipe(kept("SELECT set_config('my.own', '42', false)"), kept("SELECT current_setting('my.own', true)"), kept("SELECT current_setting('my.own', true)"))
	if len(results) != 3 || output(results[1]) != "42" || output(results[2]) != "42" {
		t.Error(len(results), output(results[len(results)-1]))
	}
}

// TestLateTaskTakesState: of the state of the task before, one that is passed over leaves nothing,
// as part of it is gone.
func TestLateTaskTakesState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, late := spec("SELECT set_config('my.own', '42', false), pg_advisory_lock(9)"), spec("SELECT 1")
	first.Save, late.Until = true, time.Now().Add(-time.Hour)
	b.pipe(first, late)
	next := spec("SELECT coalesce(current_setting('my.own', true), '') = '', count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
	next.Save, next.Keep, next.Settings = true, true, [][2]string{{"pg_task.id", "3"}}
	result, _ := b.run(next, nil)
	if !strings.HasSuffix(output(result), "\nt\t0") {
		t.Error(output(result), result.Failure)
	}
	b.end(result, "")
}

// TestSilenceAfterQuery: the transaction of a query that must not write is not left open when we
// are not heard of any more, and the limit is not the next task's.
func TestSilenceAfterQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	query := func(input string) *Task {
		task := spec(input)
		task.Query = true
		return task
	}
	watched := func(input string) *Task {
		task := spec(input)
		task.Watched = true
		return task
	}
	const limit = "SHOW idle_in_transaction_session_timeout"
	result, _ := b.run(query(limit), nil)
	for _, task := range []*Task{query(limit), spec(limit)} {
		if output(result) != "0" || !result.Open {
			t.Error(output(result), result.Failure)
		}
		result, _ = b.run(task, &Tail{})
	}
	if output(result) != "0" {
		t.Error("of a task: ", output(result))
	}
	b.end(result, "")
	b.run(query("SET idle_in_transaction_session_timeout TO '1h'; "+limit), nil)
	if b.session.silence = "100ms"; b.end(&Result{Open: true}, "") == nil {
		t.Error("the session's own limit does not hold")
	}
	b.exec("CREATE TABLE here (a int8)")
	for _, kind := range []func(string) *Task{query, watched} {
		b := newBench(t)
		b.exec("CREATE TABLE here (a int8)")
		b.session.silence = "100ms"
		b.run(kind("SELECT count(*) FROM here"), nil)
		b.exec("SET lock_timeout TO '5s'; ALTER TABLE here ADD b int8")
		if _, err := b.session.End(&Tail{}); err == nil {
			t.Error("the session has not ended")
		}
	}
	if result, _ := b.run(watched("INSERT INTO here VALUES (1)"), nil); !result.Wrote || !result.Open || output(result) != "INSERT 0 1" {
		t.Error("watched: ", output(result), result.Wrote, result.Open)
	}
}
