package exec

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// usual makes a task that keeps and saves the session's state, with these data.
func usual(input, data string) *Task {
	task := spec(input)
	task.Save, task.Keep = true, true
	task.Usual = Usual{{{"application_name", "kept"}, {"pg_task.group", "g"}}, {{"pg_task.data", data}}}
	return task
}

// TestOnlyMissingSettingsAreSet: the statement sets the task's settings, and the usual settings that
// the session does not have. A kept state may have lost all of them.
func TestOnlyMissingSettingsAreSet(t *testing.T) {
	t.Parallel()
	s := shown{base: map[string]string{"application_name": "kept", "pg_task.group": "g"}, texts: map[parts]string{}}
	a, limit := usual("", "a"), time.Unix(1e9, 0)
	a.Settings = [][2]string{{"pg_task.id", "7"}}
	for name, c := range map[string]struct {
		state state
		keep  bool
		until time.Time
		want  string
	}{
		"new session":     {state{}, false, time.Time{}, "pg_task.id=7 pg_task.data=a "},
		"data of another": {state{shows: usual("", "b").Usual}, true, time.Time{}, "pg_task.id=7 pg_task.data=a "},
		"same settings":   {state{shows: a.Usual}, false, time.Time{}, "pg_task.id=7 "},
		"with a limit":    {state{shows: a.Usual}, false, limit, "limit $2 pg_task.id=7 "},
		"other lane":      {state{shows: Usual{{{"application_name", "x"}, {"pg_task.group", "g"}}, a.Usual[1]}}, false, limit, "limit $4 pg_task.id=7 application_name=kept pg_task.group=g "},
		"not kept":        {state{shows: a.Usual, dirty: true}, false, time.Time{}, "pg_task.id=7 "},
		"kept state":      {state{shows: a.Usual, dirty: true}, true, time.Time{}, "pg_task.id=7 application_name=kept pg_task.group=g pg_task.data=a "},
	} {
		for range 2 { // the second time, the text is known
			a.Keep = c.keep
			sql, values := s.statement(a, s.missing(&c.state, a), c.until)
			got := ""
			if _, after, limited := strings.Cut(sql, "statement_timestamp(), $"); limited {
				got = "limit $" + after[:1] + " "
			}
			for i, setting := range strings.Split(sql, "set_config('")[1:] {
				name, after, _ := strings.Cut(setting, "'")
				if !strings.HasPrefix(after, fmt.Sprintf(", $%d, false)", i+1)) {
					t.Errorf("%s: %s", name, sql)
				}
				got += name + "=" + string(values[i]) + " "
			}
			if got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
}

// TestSettingsFallWithTheirTransaction: the rollback of a chained task undoes its settings, and the
// next task still gets its own.
func TestSettingsFallWithTheirTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE later (id int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	const shown = "SELECT current_setting('pg_task.data'), current_setting('statement_timeout')"
	strict := usual("SELECT 'much'", "b")
	strict.Limit, strict.Strict = 1, true
	for name, second := range map[string]*Task{
		"deferred":   usual("INSERT INTO later VALUES (1), (1)", "b"),
		"taken back": usual("SELECT 1", "b"),
		"output":     strict,
		"error":      usual("SELECT 1/0", "b"),
	} {
		first := usual("SELECT 1", "a")
		first.Keep, first.Timeout = false, 20*time.Second
		_, _ = b.run(first, nil)
		result, _ := b.run(second, &Tail{})
		if name == "taken back" {
			b.rollback()
		} else {
			b.end(result)
		}
		third, _ := b.run(usual(shown, "b"), nil)
		if output(third) != "current_setting\tcurrent_setting\nb\t0" {
			t.Error(name, output(third), third.Failure)
		}
		b.end(third)
	}
	first := usual("INSERT INTO later VALUES (1), (1)", "a")
	first.Keep, first.Timeout = false, 20*time.Second
	_, _ = b.run(first, nil)
	second, verdict := b.run(usual(shown, "a"), &Tail{})
	if code(verdict.Failure) != "23505" || output(second) != "current_setting\tcurrent_setting\na\t0" {
		t.Errorf("after a refusal: %+v %s", verdict, output(second))
	}
	b.end(second)
	first = usual("SELECT set_config('transaction_read_only', 'on', true)", "a")
	first.Keep, first.Timeout = false, 20*time.Second
	_, _ = b.run(first, nil)
	second, _ = b.run(usual(shown, "a"), &Tail{})
	if output(second) != "current_setting\tcurrent_setting\na\t0" {
		t.Errorf("after a guard: %s", output(second))
	}
	b.end(second)
}

// TestSettingsThatShowATaskAreNotInherited: a task changes its pg_task settings. The next task in
// the same session has its own, and finds the rest of the state.
func TestSettingsThatShowATaskAreNotInherited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{
		"SET pg_task.data = 'x'; SET application_name = 'x'", "SELECT set_config('pg_task.data', 'x', false), set_config('application_name', 'x', false)",
		"SET pg_task.group TO DEFAULT",
	} {
		first := usual(input, "a")
		first.Keep = false
		_, _ = b.run(first, nil)
		second, _ := b.run(usual("SELECT current_setting('pg_task.data'), current_setting('application_name'), current_setting('pg_task.group')", "a"), &Tail{})
		if output(second) != "current_setting\tcurrent_setting\tcurrent_setting\na\tkept\tg" {
			t.Error(input, output(second))
		}
		b.end(second)
	}
}

// TestARollbackBringsNoStateOfAnotherLaneBack: the reset before the task that is rolled back stays.
func TestARollbackBringsNoStateOfAnotherLaneBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, second := range []string{"SELECT 1/0", "SELECT 1"} {
		first := usual("CREATE TEMP TABLE mine (); SELECT set_config('my.own', 'x', false)", "a")
		first.Keep = false
		_, _ = b.run(first, nil)
		other := usual(second, "b")
		other.Keep = false
		result, _ := b.run(other, &Tail{})
		if result.Open {
			b.rollback()
		}
		for range 2 {
			third, _ := b.run(usual(leftovers, "b"), nil)
			if output(third) != "<null>" {
				t.Error(second, "brings back", output(third), third.Failure)
			}
			b.end(third)
		}
	}
}

// TestModesNamedInQuotesAreOfOneTransaction: SQL can quote the names of transaction settings.
func TestModesNamedInQuotesAreOfOneTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, _ = b.run(spec(`SET "transaction_isolation" TO 'serializable'`), nil)
	second, _ := b.run(spec("SELECT current_setting('transaction_isolation')"), &Tail{})
	if output(second) != "read committed" {
		t.Error(output(second))
	}
	third, _ := b.run(spec(`SET "Transaction_Isolation" TO 'serializable'; SELECT current_setting('transaction_isolation')`), &Tail{})
	if output(third) != "SET\nserializable" {
		t.Error(output(third), third.Failure)
	}
	b.end(third)
}

// TestATaskThatChoosesItsModesIsNotChained: even after a task with only constants.
func TestATaskThatChoosesItsModesIsNotChained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, save := range []bool{false, true} {
		for _, mode := range []string{"ISOLATION LEVEL SERIALIZABLE", "READ WRITE, DEFERRABLE", "ISOLATION LEVEL REPEATABLE READ"} {
			first := spec("SELECT 1")
			first.Save = save
			b.run(first, nil)
			next, verdict := b.run(spec("SET TRANSACTION "+mode+"; SELECT 2"), &Tail{})
			if output(next) != "SET\n2" || !verdict.Committed {
				t.Errorf("%s: %s %v %+v", mode, output(next), next.Failure, verdict)
			}
			b.end(next)
		}
	}
}

// settingsOf makes as many own settings as a task may have.
func settingsOf(value string) (own [][2]string) {
	for i := range 1500 {
		own = append(own, [2]string{fmt.Sprint("my.own_setting_of_a_task_", i), value})
	}
	return own
}

// TestOwnSettings: they are set in order, even with array_nulls off. The next task does not get
// them, even if it keeps the session's state.
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const shown = "SELECT concat_ws('|', current_setting('work_mem'), current_setting('my.own', true), current_setting('array_nulls'), current_setting('client_encoding'))"
	for _, c := range []struct {
		own  [][2]string
		want string
	}{
		{[][2]string{{"my.own", "a"}, {"work_mem", "7MB"}, {"my.own", "NULL"}}, "7MB|NULL|on|UTF8"},
		{[][2]string{{"array_nulls", "off"}, {"client_encoding", "LATIN1"}, {"my.own", `o{,"\`}}, "4MB|o{,\"\\|off|LATIN1"},
		{nil, "4MB||on|UTF8"},
		{[][2]string{{"my.own", ""}}, "4MB||on|UTF8"},
	} {
		task := spec(shown)
		task.Own, task.Keep, task.Save = c.own, true, true
		result, _ := b.run(task, nil)
		if result.Failure != nil || result.Output == nil || *result.Output != c.want {
			t.Errorf("%v: %v %v", c.own, result.Failure, result.Output)
		}
		b.end(result)
	}
}
