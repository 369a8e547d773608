package exec

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// several are tasks with the same input.
func several(n int, input string) (tasks []*Task) {
	for range n {
		tasks = append(tasks, spec(input))
	}
	return tasks
}

// TestPlannedOnce: those that are sent at once and run the same SQL share its plan, and nothing else.
func TestPlannedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION shown() RETURNS text STABLE LANGUAGE sql AS $$SELECT current_setting('pg_task.id') || ' ' || (now() = statement_timestamp())$$;
		CREATE FUNCTION planned() RETURNS bool LANGUAGE sql AS $$SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'pgtask_input')$$`)
	const input = "SELECT shown(), planned() -- of each"
	results, starts := b.fly(append(append([]*Task{spec("SELECT 1, 2")}, several(4, input)...), spec("SELECT 3, 4"))...)
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
	results, _ = b.fly(saved...)
	if last := output(results[len(results)-1]); len(results) != 4 || last != "t" { // by those before
		t.Fatal(len(results), last, results[len(results)-1].Failure)
	}
	b.exec("CREATE FUNCTION odd() RETURNS text LANGUAGE sql AS $$SELECT set_config('transform_null_equals', 'on', false)$$")
	for i, input := range []string{"SELECT (NULL = 1) IS NULL, NULL = NULL", "SELECT (NULL = 1) IS NULL, NULL = NULL", "SELECT odd()", "SELECT (NULL = 1) IS NULL, NULL = NULL"} {
		saved[i] = spec(input)
		saved[i].Save, saved[i].Keep = true, i > 0
	}
	results, _ = b.fly(saved...)
	if len(results) != 4 || output(results[1]) != "?column?\t?column?\nt\t\\N" || output(results[3]) != "?column?\t?column?\nf\tt" {
		t.Error(len(results), output(results[1]), output(results[len(results)-1]))
	}
}

// TestPlannedFails: the one that fails shows its error, and what is behind it has not run.
func TestPlannedFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE SEQUENCE ran; CREATE FUNCTION ran() RETURNS int8 STABLE LANGUAGE sql AS $$SELECT 12 / (current_setting('pg_task.id')::int8 - 3)$$`)
	results, _ := b.fly(several(5, "SELECT ran()")...)
	if len(results) != 3 || output(results[1]) != "-12" || failure(results[2]) != "22012" || results[2].Open || results[2].Forgot || results[2].Alone {
		t.Fatalf("%d %+v", len(results), results[len(results)-1])
	}
	if text := results[2].Failure.Text; !strings.Contains(text, "division by zero") || !strings.Contains(text, "STATEMENT:  SELECT ran()") {
		t.Error(text)
	}
	b.alone()
	b.exec(`CREATE FUNCTION gone() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'EXECUTE nothing'; END$$`)
	results, _ = b.fly(several(3, "SELECT gone()")...) // that is not ours
	if len(results) != 1 || failure(results[0]) != "26000" || results[0].Forgot {
		t.Fatalf("%d %+v", len(results), results[0])
	}
	b.alone()
	for _, wrong := range []string{"SELECT nothing()", "SELECT 1 +", "TABLE nowhere", "SELECT 1/0"} { // not even planned
		results, _ := b.fly(several(3, wrong)...)
		single, _ := b.fly(spec(wrong))
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
	other, err := pgx.Connect(t.Context(), b.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close(context.WithoutCancel(t.Context())) })
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

// TestPlanIsOfItsTime: what is sent later is planned anew, so that it sees what was there when it was claimed.
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
