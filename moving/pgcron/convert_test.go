package pgcron

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/apply"
	"pgtaskd/moving"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestSchedulesInOurWords(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"0 3 * * *":            "CRON_TZ=GMT 0 3 * * *",
		"  0  3 1,$ jan-mar *": "CRON_TZ=GMT 0 3 1,L jan-mar *",
		"0 3 $ * *":            "CRON_TZ=GMT 0 3 L * *",
		"@daily":               "CRON_TZ=GMT @daily",
		"30 seconds":           "@every 30 s",
		"1 Second":             "@every 1 s",
		"0 3 * * 7 x y":        `CRON_TZ=GMT 0 3 * * 7; note: what follows the five fields is dropped, as pg_cron does: "x y"`,
		"0 3 * * * *":          `CRON_TZ=GMT 0 3 * * *; note: what follows the five fields is dropped, as pg_cron does: "*"`,
		"@reboot":              `error: name "@reboot" at character 13 is no time: insert a task when the server starts`,
		"*/90 * * * *":         `error: minute "*/90" at character 13 has a step that is not from 1 to 59`,
		"":                     "error: cron ends at character 13 after 0 fields: there are 5, or 6 with seconds first",
		"* * \x1b * *":         "error: cron has a character that is not plain ASCII at character 17",
		strings.Repeat("1,", 1<<19) + "1 * * * *": "error: cron is longer than 1 kB",
	} {
		notes := moving.Notes{Job: "note"}
		cron, err := Place{}.cron(schedule, &notes)
		if err != nil {
			cron = "error: " + err.Error()
		}
		cron = strings.Join(append([]string{cron}, notes.All...), "; ")
		if cron != want {
			t.Errorf("%.50q: %s, not %s", schedule, cron, want)
		}
	}
	notes := moving.Notes{}
	if cron, err := (Place{Zone: "Europe/Berlin"}).cron("0 3 * * *", &notes); err != nil || cron != "CRON_TZ=Europe/Berlin 0 3 * * *" {
		t.Error(cron, err)
	}
	if _, err := (Place{Zone: "PST"}).cron("0 3 * * *", &notes); err == nil {
		t.Error("PST is taken for a zone")
	}
}

func TestWhatCannotBeMovedIsLeftOutWithTheReason(t *testing.T) {
	t.Parallel()
	place := Place{Port: 5432, Host: "db.internal"}
	job := Job{ID: 1, Schedule: "0 3 * * *", Command: "SELECT 1", Node: "localhost", Port: 5432, Database: "shop", User: "anna", Active: true}
	with := func(change func(*Job)) Job {
		j := job
		change(&j)
		return j
	}
	for _, c := range []struct {
		job  Job
		note string
		left bool
	}{
		{job, "", false},
		{with(func(j *Job) { j.Node = "db.internal" }), "", false},
		{with(func(j *Job) { j.Node = "/run/postgresql" }), "", false},
		{with(func(j *Job) { j.Node = "elsewhere" }), "another server", true},
		{with(func(j *Job) { j.Port = 5433 }), "another server", true},
		{with(func(j *Job) { j.Database = "other" }), "--database", true},
		{with(func(j *Job) { j.User = "bob" }), "--user", true},
		{with(func(j *Job) { j.Schedule = "@reboot" }), "@reboot", true},
		{with(func(j *Job) { j.Active = false }), "inactive", false},
	} {
		converted, notes := Convert(place, []Job{c.job}, Choice{"shop", "anna"})
		if len(converted) == 0 != c.left {
			t.Errorf("%+v: %+v", c.job, converted)
		}
		if c.note == "" && len(notes.All) > 0 || c.note != "" && (len(notes.All) != 1 || !strings.Contains(notes.All[0], c.note)) {
			t.Errorf("%+v: %v", c.job, notes)
		}
	}
}

// TestApplyReadsWhatIsWritten: whatever text a command has.
func TestApplyReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	texts := []string{
		"SELECT 1", "SELECT 1;\nSELECT 2", "BEGIN;\n\n\n  SELECT ': # - & * ! | > %';\n\tSELECT 'é';\nCOMMIT;", "a \nb", " a\nb", "a\nb\n", "\na\nb", "'\\n' \"x\" \x01\x1b\x7f \u202e \U0001f600",
		"- x\n- y", "{a: b}\n[c]", "---\n...", "# x\n# y", "a:\n  b\n c", "true", "~", "007", "%YAML 1.2\n---", "\u2028\n\u0085", "a\r\nb", "\ufeff\na", "x\n\n\n\ny", "'\n", "|\n|-", "x\n  \ny",
	}
	var jobs []moving.Job
	for i, text := range texts {
		job := moving.Job{Key: fmt.Sprint(i, text), Cron: "@daily", Input: text}
		if i%2 == 0 {
			job.Plan = moving.Paused
		}
		jobs = append(jobs, job)
	}
	read, err := apply.ReadText("x", moving.YAML(jobs), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apply.Run(t.Context(), conn, sql.Table{Schema: "public", Name: "task"}, read, apply.Options{Owner: "pg_cron"}); err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if got := servertest.Get(t, conn, `SELECT input FROM task WHERE key = $1 AND "group" = $1`, job.Key); got != job.Input {
			t.Errorf("%q became %q", job.Input, got)
		}
	}
	if jobs, err := apply.ReadText("x", moving.YAML(nil), 1<<20); err != nil || len(jobs) != 0 {
		t.Error(jobs, err)
	}
}
