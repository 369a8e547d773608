package timetable

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgtaskd/moving"
)

var place = Place{Zone: "UTC", User: "anna", Now: time.Date(2030, 3, 1, 0, 0, 0, 0, time.UTC)}

// chain returns a chain that can be carried over unchanged.
func chain(change ...func(*Chain)) Chain {
	c := Chain{ID: 3, Name: "load", RunAt: "0 3 * * *", Live: true, Tasks: []Task{{ID: 1, Name: "first", Kind: "SQL", Command: "SELECT 1"}}}
	for _, change := range change {
		change(&c)
	}
	return c
}

func TestChainsOfPgTimetable(t *testing.T) {
	t.Parallel()
	at := func(cron string) func(*Chain) { return func(c *Chain) { c.RunAt = cron } }
	task := func(change func(*Task)) func(*Chain) { return func(c *Chain) { change(&c.Tasks[0]) } }
	plain := moving.Job{From: 3, Key: "load", Cron: "CRON_TZ=UTC 0 3 * * *", Input: "SELECT 1;"}
	but := func(change func(*moving.Job)) *moving.Job { j := plain; change(&j); return &j }
	runs := func(cron string) *moving.Job { return but(func(j *moving.Job) { j.Cron = cron }) }
	for name, c := range map[string]struct {
		chain Chain
		want  *moving.Job // nil: left out
		note  string
	}{
		"as it is":          {chain(), &plain, ""},
		"each minute":       {chain(at("")), runs("CRON_TZ=UTC * * * * *"), ""},
		"lists and steps":   {chain(at("5/20 */6 1-3 * 7,1")), runs("CRON_TZ=UTC 5,25,45 0,6,12,18 */31,2,3 * 0,1"), ""},
		"all must fit":      {chain(at("0 3 13 * 5")), nil, "either for enough"},
		"wrong":             {chain(at("0 3 40 * 5")), nil, `"40" is not understood`},
		"every":             {chain(at("@every 2 hours")), but(func(j *moving.Job) { j.Cron, j.Repeat = "", "2 hours" }), ""},
		"after":             {chain(at("@after 90 seconds")), but(func(j *moving.Job) { j.Cron, j.Repeat, j.Drift = "", "90 seconds", true }), ""},
		"reboot":            {chain(at("@reboot")), nil, "start of the server"},
		"a zone of its own": {chain(func(c *Chain) { c.Zone = "Asia/Tokyo" }), runs("CRON_TZ=Asia/Tokyo 0 3 * * *"), ""},
		"an odd zone":       {chain(func(c *Chain) { c.Zone = "<+03>-3" }), runs("0 3 * * *"), "no name of the tz database"},
		"not live":          {chain(func(c *Chain) { c.Live = false }), but(func(j *moving.Job) { j.Plan = moving.Paused }), "not live"},
		"once":              {chain(func(c *Chain) { c.SelfDestruct = true }), but(func(j *moving.Job) { j.Until = "2030-03-01T03:00:00Z" }), "runs once"},
		"once, every":       {chain(at("@every 1 hour"), func(c *Chain) { c.SelfDestruct = true }), nil, "deletes itself"},
		"exclusive":         {chain(func(c *Chain) { c.Exclusive = true }), &plain, "exclusively"},
		"instances":         {chain(func(c *Chain) { c.MaxInstances = 2 }), &plain, "2 times at once"},
		"client":            {chain(func(c *Chain) { c.Client = "w1" }), &plain, `"w1"`},
		"on error":          {chain(func(c *Chain) { c.OnError = "SELECT told()" }), but(func(j *moving.Job) { j.OnFail = unlessGone(`"public"."task"`, "SELECT told()") }), ""},
		"on its own error":  {chain(task(func(t *Task) { t.IgnoreError = true }), func(c *Chain) { c.OnError = "SELECT told()" }), &plain, ""},
		"timeouts":          {chain(func(c *Chain) { c.Timeout, c.Tasks[0].Timeout = 900, 800 }), but(func(j *moving.Job) { j.Timeout = "800 ms" }), ""},
		"no tasks":          {chain(func(c *Chain) { c.Tasks = nil }), nil, "no task"},
		"ignores its error": {chain(task(func(t *Task) { t.IgnoreError = true })), &plain, ""},
		"a comment":         {chain(task(func(t *Task) { t.Command = "SELECT 1 -- one" })), but(func(j *moving.Job) { j.Input = "SELECT 1 -- one\n;" }), ""},
		"autonomous":        {chain(task(func(t *Task) { t.Command, t.Autonomous = "VACUUM", true })), but(func(j *moving.Job) { j.Input = "VACUUM;" }), ""},
		"as itself":         {chain(task(func(t *Task) { t.RunAs = "anna" })), &plain, ""},
		"as another":        {chain(task(func(t *Task) { t.RunAs = `b"ob` })), but(func(j *moving.Job) { j.Input = `SET LOCAL ROLE "b""ob"; SELECT 1; RESET ROLE;` }), ""},
		"elsewhere":         {chain(task(func(t *Task) { t.Connection = "host=db2" })), but(func(j *moving.Job) { j.Remote = "host=db2" }), "remote must bring a password"},
		"with parameters": {chain(task(func(t *Task) {
			t.Command, t.Parameters = "SELECT f($1, $2, $3)", raw(`["it's", 2, null]`, `["a\\b", true, {"a": 1}]`)
		})), but(func(j *moving.Job) {
			j.Input = `PREPARE task_1 AS SELECT f($1, $2, $3); EXECUTE task_1('it''s', '2', NULL); EXECUTE task_1(E'a\\b', 'true', '{"a": 1}'); DEALLOCATE task_1;`
		}), ""},
		"empty parameters":    {chain(task(func(t *Task) { t.Parameters = raw("[]") })), &plain, ""},
		"a call with some":    {chain(task(func(t *Task) { t.Command, t.Parameters = "CALL p($1)", raw("[1]") })), nil, "none of its tasks"},
		"odd parameters":      {chain(task(func(t *Task) { t.Parameters = raw(`"x"`) })), nil, "none of its tasks"},
		"a program":           {chain(task(func(t *Task) { t.Kind, t.Command = "PROGRAM", "rm" })), nil, "none of its tasks"},
		"built in":            {chain(task(func(t *Task) { t.Kind, t.Command = "BUILTIN", "SendMail" })), nil, "none of its tasks"},
		"with a password":     {chain(task(func(t *Task) { t.Connection = "host=db2 password=secret" })), nil, "none of its tasks"},
		"another in autonomy": {chain(task(func(t *Task) { t.Autonomous, t.RunAs = true, "bob" })), nil, "none of its tasks"},
	} {
		jobs, notes := Convert(place, []Chain{c.chain}, `"public"."task"`)
		if (c.want == nil) != (len(jobs) == 0) || c.want != nil && (len(jobs) != 1 || jobs[0] != *c.want) {
			t.Errorf("%s: %+v", name, jobs)
		}
		last := ""
		if len(notes.All) > 0 {
			last = notes.All[len(notes.All)-1]
		}
		if (c.note == "") != (len(notes.All) == 0) || !strings.Contains(last, c.note) || strings.Contains(last, ": left out: ") != (c.want == nil) && len(notes.All) > 0 {
			t.Errorf("%s: %v", name, notes)
		}
		for _, n := range notes.All {
			if strings.Contains(n, "secret") {
				t.Errorf("%s: a password is shown: %s", name, n)
			}
		}
	}
}

func raw(texts ...string) (values []json.RawMessage) {
	for _, text := range texts {
		values = append(values, json.RawMessage(text))
	}
	return values
}

// TestATransactionIsOneInput: and an autonomous task becomes a task of its own.
func TestATransactionIsOneInput(t *testing.T) {
	t.Parallel()
	sql := func(id int64, command string, change ...func(*Task)) Task {
		task := Task{ID: id, Kind: "SQL", Command: command}
		for _, change := range change {
			change(&task)
		}
		return task
	}
	ignores := func(t *Task) { t.IgnoreError = true }
	alone := func(t *Task) { t.Autonomous = true }
	together := chain(func(c *Chain) {
		c.Tasks = []Task{sql(1, "SELECT 1"), sql(2, "SELECT 1/0", ignores), sql(3, "SELECT 3;")}
	})
	jobs, notes := Convert(place, []Chain{together}, `"public"."task"`)
	if want := `SELECT 1;
DO $ignore$BEGIN EXECUTE $sql$SELECT 1/0;$sql$; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; END$ignore$;
SELECT 3;`; len(jobs) != 1 || jobs[0].Input != want || len(notes.All) != 1 || !strings.Contains(notes.All[0], "may fail without harm") {
		t.Errorf("%+v %v", jobs, notes)
	}
	apart := chain(func(c *Chain) {
		c.Tasks = []Task{sql(1, "SELECT 1"), sql(2, "SELECT 2"), sql(3, "VACUUM a", alone, ignores), sql(4, "SELECT 4")}
		c.OnError, c.Timeout = "SELECT 'failed'", 5000
	})
	jobs, notes = Convert(place, []Chain{apart}, `"public"."task"`)
	const want = `DO $pipeline$
DECLARE
    done pg_catalog.int8[]; -- the step that must have ended well
    step pg_catalog.int8;
BEGIN
    -- "task 1"
    INSERT INTO "public"."task" ("group", max, active, input, timeout)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step$SELECT 1;
SELECT 2;$step$, $text$5000 ms$text$)
    RETURNING id INTO step;
    done := ARRAY[step];
    -- "task 3"
    INSERT INTO "public"."task" ("group", max, active, input, timeout, after)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step$VACUUM a;$step$, $text$5000 ms$text$, done)
    RETURNING id INTO step;
    -- "task 4"
    INSERT INTO "public"."task" ("group", max, active, input, timeout, on_fail, after)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step$SELECT 4;$step$, $text$5000 ms$text$, $text$SELECT 'failed'$text$, done)
    RETURNING id INTO step;
    done := ARRAY[step];
END
$pipeline$`
	if len(jobs) != 1 || jobs[0].Input != want || jobs[0].OnFail != "" || len(notes.All) != 2 {
		t.Errorf("%+v %v", jobs, notes)
	}
}

// TestOnErrorIsForTasksThatMustSucceed: it is told of these alone, once.
func TestOnErrorIsForTasksThatMustSucceed(t *testing.T) {
	t.Parallel()
	for ignored, told := range map[string]int{"--": 1, "-i": 0, "i-": 1, "-ii": 0, "i-i": 1, "--i": 1, "i-i-i": 3, "ii": -1} {
		c := chain(func(c *Chain) { c.Tasks, c.OnError = nil, "SELECT told()" })
		for i, one := range ignored {
			c.Tasks = append(c.Tasks, Task{ID: int64(i), Kind: "SQL", Command: "VACUUM", Autonomous: true, IgnoreError: one == 'i'})
		}
		jobs, _ := Convert(place, []Chain{c}, "task")
		if len(jobs) != 1 {
			t.Fatal(jobs)
		}
		got := -1
		for i, insert := range strings.Split(jobs[0].Input, "INSERT INTO ")[1:] {
			if strings.Contains(insert, "on_fail") {
				if got >= 0 {
					t.Errorf("%s: told twice", ignored)
				}
				got = i
			}
		}
		if got != told {
			t.Errorf("%s: told of %d, not %d", ignored, got, told)
		}
	}
}
