package exec

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// several are tasks with the same input.
func several(n int, input string) (tasks []*Task) {
	for range n {
		tasks = append(tasks, spec(input))
	}
	return tasks
}

// TestPlannedOnce: those that are sent at once and run the same SQL share its plan, and nothing
// else.
func TestPlannedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION shown() RETURNS text STABLE LANGUAGE sql AS $$SELECT current_setting('pg_task.id') || ' ' || (now() = statement_timestamp())$$;
		CREATE FUNCTION planned() RETURNS bool LANGUAGE sql AS $$SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name LIKE 'pgtaskd\_%\_input')$$`)
	const input = "SELECT shown(), planned() -- of each"
	results, starts := b.pipe(append(append([]*Task{spec("SELECT 1, 2")}, several(4, input)...), spec("SELECT 3, 4"))...)
	if len(results) != 6 {
		t.Fatal(len(results), results[len(results)-1].Failure)
	}
	for i, id := range map[int]string{1: "2", 2: "3", 3: "4", 4: "5"} {
		if got, want := output(results[i]), "shown\tplanned\n"+id+" false\tt"; got != want {
			t.Errorf("%d: %q, not %q", i, got, want)
		}
		if before := results[i-1].Stop; starts[i].Before(before) || results[i].Stop.Before(starts[i]) {
			t.Errorf("%d began %v, the one before ended %v, it ended %v", i, starts[i], before, results[i].Stop)
		}
	}
	if first, last := output(results[0]), output(results[5]); first != "?column?\t?column?\n1\t2" || last != "?column?\t?column?\n3\t4" {
		t.Error(first, last)
	}
	b.alone()
	saved := several(4, "SELECT planned()")
	for i, task := range saved {
		task.Save, task.Keep = true, i > 0
	}
	results, _ = b.pipe(saved...)
	if last := output(results[len(results)-1]); len(results) != 4 || last != "t" { // by those before
		t.Fatal(len(results), last, results[len(results)-1].Failure)
	}
	b.exec("CREATE FUNCTION odd() RETURNS text LANGUAGE sql AS $$SELECT set_config('transform_null_equals', 'on', false)$$")
	for i, input := range []string{"SELECT (NULL = 1) IS NULL, NULL = NULL", "SELECT (NULL = 1) IS NULL, NULL = NULL", "SELECT odd()", "SELECT (NULL = 1) IS NULL, NULL = NULL"} {
		saved[i] = spec(input)
		saved[i].Save, saved[i].Keep = true, i > 0
	}
	results, _ = b.pipe(saved...)
	if len(results) != 4 || output(results[1]) != "?column?\t?column?\nt\t\\N" || output(results[3]) != "?column?\t?column?\nf\tt" {
		t.Error(len(results), output(results[1]), output(results[len(results)-1]))
	}
}

// TestPlannedFails: the one that fails shows its error, and what is behind it has not run.
func TestPlannedFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE SEQUENCE ran; CREATE FUNCTION ran() RETURNS int8 STABLE LANGUAGE sql AS $$SELECT 12 / (current_setting('pg_task.id')::int8 - 3)$$`)
	results, _ := b.pipe(several(5, "SELECT ran()")...)
	if len(results) != 3 || output(results[1]) != "-12" || failure(results[2]) != "22012" || results[2].Open || results[2].Forgot || results[2].Alone {
		t.Fatalf("%d %+v", len(results), results[len(results)-1])
	}
	if text := results[2].Failure.Text; !strings.Contains(text, "division by zero") || !strings.Contains(text, "STATEMENT:  SELECT ran()") {
		t.Error(text)
	}
	b.alone()
	b.exec(`CREATE FUNCTION gone() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'EXECUTE nothing'; END$$`)
	results, _ = b.pipe(several(3, "SELECT gone()")...) // that is not ours
	if len(results) != 1 || failure(results[0]) != "26000" || results[0].Forgot {
		t.Fatalf("%d %+v", len(results), results[0])
	}
	b.alone()
	for _, wrong := range []string{"SELECT nothing()", "SELECT 1 +", "TABLE nowhere", "SELECT 1/0"} { // not even planned
		results, _ := b.pipe(several(3, wrong)...)
		single, _ := b.pipe(spec(wrong))
		if len(results) != 1 || results[0].Open || results[0].Failure == nil || results[0].Failure.Text != single[0].Failure.Text {
			t.Errorf("%s: %d %v, alone %v", wrong, len(results), results[0].Failure, single[0].Failure)
		}
		b.alone()
	}
}

// TestPlanIsOutdated: where a table changes between two of them, the next does not fail by that.
func TestPlanIsOutdated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := servertest.Connect(t, b.dsn)
	b.exec("CREATE FUNCTION hold() RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_xact_lock(5)'")
	for change, forgot := range map[string]bool{"ALTER TABLE shape ADD b int4": true, "VACUUM FULL shape": false, "DROP TABLE shape": false} {
		b.exec("DROP TABLE IF EXISTS shape; CREATE TABLE shape (a int4); INSERT INTO shape VALUES (1)")
		b.exec("SELECT pg_advisory_lock(5)")
		tasks := several(2, "SELECT *, hold() FROM shape")
		for _, task := range tasks {
			task.Settings, task.Until = [][2]string{{"pg_task.id", "1"}}, time.Now().Add(time.Hour)
		}
		if _, _, err := b.session.Begin(nil, tasks[0], tasks[1]); err != nil {
			t.Fatal(err)
		}
		b.until("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))")
		changed := make(chan error, 1)
		go func() {
			_, err := other.Exec(t.Context(), change)
			changed <- err
		}()
		b.until("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'shape'::regclass)")
		b.exec("SELECT pg_advisory_unlock(5)")
		first, err := b.session.Await(tasks[0])
		if err != nil || output(first) != "a\thold\n1\t" {
			t.Fatal(output(first), first.Failure, err)
		}
		if _, _, begun, err := b.session.Next(); !begun || err != nil {
			t.Fatal(begun, err)
		}
		second, err := b.session.Await(tasks[1])
		if err != nil {
			t.Fatal(err)
		}
		if second.Forgot != forgot || second.Open == (second.Failure != nil) || change[0] == 'V' && output(second) != "a\thold\n1\t" || change[0] == 'D' && failure(second) != "42P01" {
			t.Errorf("%s: %q %v %+v", change, output(second), second.Failure, second)
		}
		b.end(second, "")
		if err := <-changed; err != nil {
			t.Fatal(err)
		}
		tasks[1].Wary = true
		again, _ := b.run(tasks[1], nil)
		if want := "a\tb\thold\n1\t\\N\t"; forgot && output(again) != want {
			t.Errorf("%s: again: %q %v, want %q", change, output(again), again.Failure, want)
		}
		b.end(again, "")
	}
}

// TestPlanIsOfItsTime: what is sent later is planned again, so that it sees what was there when it
// was claimed.
func TestPlanIsOfItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE FUNCTION public.age() RETURNS text STABLE LANGUAGE sql AS $$SELECT 'old' || pg_advisory_xact_lock_shared(6)::text$$`)
	b.exec("SELECT pg_advisory_lock(6)")
	tasks := several(5, "SELECT age()")
	for _, task := range tasks {
		task.Settings, task.Until = [][2]string{{"pg_task.id", "1"}}, time.Now().Add(time.Hour)
	}
	if _, _, err := b.session.Begin(nil, tasks[0], tasks[1:3]...); err != nil {
		t.Fatal(err)
	}
	b.until("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))")
	b.exec(`DO $$BEGIN EXECUTE format('CREATE FUNCTION %I.age() RETURNS text STABLE LANGUAGE sql AS ''SELECT text ''''new''''''', current_user); END$$`)
	b.session.Extend(tasks[3:]...)
	b.exec("SELECT pg_advisory_unlock(6)")
	for i, task := range tasks {
		result, err := b.session.Await(task)
		if err != nil || i == 0 && output(result) != "old" || i >= 3 && output(result) != "new" {
			t.Fatal(i, output(result), result.Failure, err)
		}
		if i == len(tasks)-1 {
			b.end(result, "")
			return
		}
		if _, _, begun, err := b.session.Next(); !begun || err != nil {
			t.Fatal(i, begun, err)
		}
	}
}

// TestWritesShareAPlan: those that were taken before it is made, for a short time, and nothing else
// of one is another's.
func TestWritesShareAPlan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION bound() RETURNS bool LANGUAGE sql AS $$SELECT EXISTS (SELECT FROM pg_cursors WHERE name = '')$$;
		CREATE FUNCTION plan() RETURNS timestamptz LANGUAGE sql AS $$SELECT prepare_time FROM pg_prepared_statements WHERE name LIKE 'pgtaskd\_%\_input'$$;
		CREATE TABLE written (n serial, id text DEFAULT current_setting('pg_task.id'), bound bool DEFAULT bound(), plan timestamptz DEFAULT plan(), at timestamptz DEFAULT now(), a int4)`)
	taken := time.Now()
	write := func(input string, taken time.Time) *Result {
		t.Helper()
		task := spec(input)
		if old := b.session.plannedAt; time.Since(old) < time.Minute { // however slow this machine is
			b.session.plannedAt = time.Now()
		}
		task.Ours, task.Settled, task.Settings = true, taken, [][2]string{{"pg_task.id", b.get("SELECT count(*) FROM written")}}
		result, _ := b.run(task, nil)
		if result.Failure != nil || !result.Open || !result.Wrote || result.Forgot || result.Stop.IsZero() {
			t.Fatalf("%+v", result)
		}
		b.end(result, "")
		return result
	}
	const input = "INSERT INTO written (a) VALUES (1) RETURNING id, lastval() IS NOT NULL AS drawn"
	for i, taken := range []time.Time{taken, taken, taken, taken} {
		if got, want := output(write(input, taken)), "id\tdrawn\n"+strconv.Itoa(i)+"\tt"; got != want {
			t.Errorf("%d: %q, not %q", i, got, want)
		}
	}
	write(input, time.Now())                // taken since
	write(input, time.Now().Add(time.Hour)) // and behind the one that is planned
	write("UPDATE written SET a = a + 1 WHERE n = 1", taken)
	write(input, taken)
	b.session.plannedAt = b.session.plannedAt.Add(-time.Hour)
	write(input, taken)
	write(input, taken)
	for i, want := range []string{"false", "true", "true", "true", "false", "false", "false", "true", "true"} {
		if got := b.get("SELECT bound FROM written WHERE id = $1", strconv.Itoa(i)); got != want {
			t.Errorf("%d: bound %s, want %s", i, got, want)
		}
	}
	if got := b.get("SELECT string_agg((SELECT count(DISTINCT plan) FROM written AS o WHERE o.bound AND o.n <= w.n)::text, '' ORDER BY n) FROM written AS w"); got != "011111122" {
		t.Error("plans:", got)
	}
	if got := b.get("SELECT count(DISTINCT at) || ' ' || (SELECT a FROM written WHERE n = 1) FROM written"); got != "9 2" {
		t.Error(got)
	}
}

// TestWritesByAPlanThatFail: the error is that of the SQL alone, and what comes next is planned
// again.
func TestWritesByAPlanThatFail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE one (a int4 PRIMARY KEY)")
	const input = "INSERT INTO one VALUES (1)"
	taken := time.Now()
	var first string
	for i := range 4 {
		task := spec(input)
		task.Ours, task.Settled = true, taken
		result, _ := b.run(task, nil)
		switch {
		case i == 0:
			b.end(result, "")
			continue
		case failure(result) != "23505" || result.Open || result.Forgot:
			t.Fatalf("%d: %+v", i, result)
		case !b.session.bound:
			t.Error(i, "is not by a plan")
		}
		if first == "" {
			first = result.Failure.Text
		}
		if result.Failure.Text != first || !strings.Contains(first, "STATEMENT:  "+input) {
			t.Errorf("%q, not %q", result.Failure.Text, first)
		}
	}
	alone, _ := b.run(spec(input), nil)
	if alone.Failure.Text != first {
		t.Errorf("alone %q, by a plan %q", alone.Failure.Text, first)
	}
	b.alive()
}

// TestWritesByRules: where a rule adds a query to a write, its rows are shown, and it is run once.
func TestWritesByRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE ruled (a int4); CREATE RULE tell AS ON INSERT TO ruled DO ALSO SELECT count(*) AS told FROM ruled")
	taken := time.Now()
	forgot := 0
	for i := range 5 {
		task := spec("INSERT INTO ruled VALUES (1)")
		task.Ours, task.Settled = true, taken
		result, _ := b.run(task, nil)
		if result.Forgot {
			forgot++
			b.end(result, "")
			task.Wary = true
			result, _ = b.run(task, nil)
		}
		if want := strconv.Itoa(i + 1); !result.Open || output(result) != want {
			t.Errorf("%d: %q %v, not %q", i, output(result), result.Failure, want)
		}
		b.end(result, "")
	}
	if rows := b.get("SELECT count(*) FROM ruled"); rows != "5" || forgot != 1 {
		t.Errorf("%s rows, %d forgotten", rows, forgot)
	}
	b.alive()
}

// TestWritesOfSettings: the system has a rule for them that shows rows.
func TestWritesOfSettings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pg_settings", "mine"} {
		b := newBench(t)
		b.exec("CREATE TABLE want AS SELECT 'work_mem' AS name, '5MB' AS value; CREATE VIEW mine AS SELECT * FROM pg_settings")
		settled, forgot := time.Now(), 0
		for i := range 5 {
			task := spec("UPDATE " + name + " AS s SET setting = value FROM want WHERE want.name = s.name")
			task.Ours, task.Settled = true, settled
			result, _ := b.run(task, nil)
			if result.Forgot {
				forgot++
				task.Wary = true
				result, _ = b.run(task, nil)
			}
			if !result.Open || output(result) != "5MB" {
				t.Errorf("%s %d: %q %v", name, i, output(result), result.Failure)
			}
			b.end(result, "")
		}
		if forgot > 1 {
			t.Error(name, forgot, "forgotten")
		}
	}
}

// TestCopyBetweenWrites: what comes behind an input that may read from us is not the same again.
func TestCopyBetweenWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE public.place (a int4)")
	user := b.get("SELECT quote_ident(current_user)")
	settled := time.Now()
	for i, input := range []string{"", "", "", "CREATE TABLE " + user + ".place (stdin int4)", "", ""} {
		task := spec(cmp.Or(input, "INSERT INTO place VALUES (1) RETURNING tableoid::regclass::text"))
		task.Ours, task.Settled = true, settled
		result, _ := b.run(task, nil)
		if i == 4 { // the end of the one before is known only now
			settled = time.Now()
		}
		b.end(result, "")
	}
	if got := b.get("SELECT (SELECT count(*) FROM public.place) || ' ' || (SELECT count(*) FROM place)"); got != "3 2" {
		t.Error(got)
	}
}

// TestEndBehindAPlanThatHasChangedTheRole: the end is refused, and the task can be run again by
// itself; only so do such tasks run from then on.
func TestEndBehindAPlanThatHasChangedTheRole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE chosen (name text, value text); CREATE TABLE seen (value text)")
	const end = "UPDATE public.chosen SET value = value"
	taken := time.Now()
	var forgot, bound []int
	task := func() *Task {
		task := spec("INSERT INTO public.seen SELECT set_config(name, value, false) FROM public.chosen")
		task.Ours, task.Settled = true, taken
		return task
	}
	var verdict *Verdict
	result, _ := b.run(task(), nil)
	for i := 1; i < 8; i++ {
		if i == 3 {
			b.exec("INSERT INTO chosen VALUES ('role', 'pg_monitor'), ('search_path', 'pg_temp'), ('statement_timeout', '7s')")
		}
		if !result.Open {
			t.Fatalf("%d: %+v", i, result)
		}
		next := task()
		if i == 4 { // what is next must not change what is said of the one before
			next = spec("INSERT INTO public.seen VALUES (DEFAULT)")
		}
		if result, verdict = b.run(next, &Tail{Calls: calls(end)}); verdict.Forgot {
			forgot = append(forgot, i)
		} else if !verdict.Committed {
			t.Errorf("%d: %+v", i, verdict.Refused)
		}
		if b.session.bound {
			bound = append(bound, i)
		}
	}
	if fmt.Sprint(forgot) != "[4]" || len(bound) == 0 || bound[len(bound)-1] != 3 { // on a busy machine a plan is too old at times
		t.Error("forgot", forgot, "by a plan", bound)
	}
	b.end(result, "")
	// An end that finds nothing says nothing of the plan.
	c := newBench(t)
	c.exec("CREATE TABLE seen (value text)")
	for planned := 0; planned < 3; { // a busy machine may take longer for one than its plan lasts
		task := spec("INSERT INTO seen VALUES (1)")
		task.Ours, task.Settled = true, taken
		result, _ := c.run(task, nil)
		if verdict := c.end(result, "SELECT 1::int2 / 0::int4"); verdict.Forgot || !verdict.Refused.Missed() {
			t.Fatalf("%+v, by a plan: %v", verdict, c.session.bound)
		}
		if c.session.bound {
			planned++
		}
	}
}

// TestWritesFindWhatIsNew: a table that comes before another in the path, made after the plan and
// before the task was taken.
func TestWritesFindWhatIsNew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE public.place (a int4)")
	taken := time.Now()
	for i := range 8 {
		if i == 4 {
			b.exec(`DO $$BEGIN EXECUTE format('CREATE TABLE %I.place (a int4)', current_user); END$$`)
			taken = time.Now()
		}
		task := spec("INSERT INTO place VALUES (1)")
		task.Ours, task.Settled = true, taken
		result, _ := b.run(task, nil)
		b.end(result, "")
	}
	if got := b.get("SELECT (SELECT count(*) FROM public.place) || ' ' || (SELECT count(*) FROM place)"); got != "4 4" {
		t.Error(got)
	}
}
