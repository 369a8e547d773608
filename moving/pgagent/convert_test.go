package pgagent

import (
	"strings"
	"testing"
	"time"

	"pgtaskd/moving"
)

func at(year int) time.Time { return time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC) }

func some(n int, set ...int) []bool {
	values := make([]bool, n)
	for _, i := range set {
		values[i] = true
	}
	return values
}

var place = Place{Zone: "Europe/Berlin", Database: "shop", Now: at(2030)}

// nightly is a job that can be carried over unchanged.
func nightly(change ...func(*Job)) Job {
	j := Job{
		ID: 7, Name: "nightly", Enabled: true,
		Steps: []Step{{Name: "one", Kind: "s", Code: "SELECT 1", Database: "shop", OnError: "f"}},
		Schedules: []Schedule{{
			Name: "night", Start: at(2020), Minutes: some(60, 0), Hours: some(24, 3), Weekdays: some(7), Monthdays: some(32), Months: some(12),
		}},
	}
	for _, change := range change {
		change(&j)
	}
	return j
}

// with changes the schedule.
func with(change func(*Schedule)) func(*Job) { return func(j *Job) { change(&j.Schedules[0]) } }

func TestJobsOfPgAgent(t *testing.T) {
	t.Parallel()
	later := func(year int) func(*Job) { return with(func(s *Schedule) { s.Start = at(year) }) }
	ends := func(year int) func(*Job) { return with(func(s *Schedule) { end := at(year); s.End = &end }) }
	step := func(change func(*Step)) func(*Job) { return func(j *Job) { change(&j.Steps[0]) } }
	plain := moving.Job{From: 7, Key: "nightly", Group: "nightly", Active: "0", Cron: "CRON_TZ=Europe/Berlin 0 3 * * *", Input: "SELECT 1"}
	but := func(change func(*moving.Job)) *moving.Job { j := plain; change(&j); return &j }
	for name, c := range map[string]struct {
		job  Job
		want *moving.Job // nil: left out
		note string
	}{
		"as it is":       {nightly(), &plain, ""},
		"not enabled":    {nightly(func(j *Job) { j.Enabled = false }), but(func(j *moving.Job) { j.Plan = moving.Paused }), "not enabled"},
		"of an agent":    {nightly(func(j *Job) { j.Agent = "db1" }), &plain, `"db1"`},
		"to begin later": {nightly(later(2031)), but(func(j *moving.Job) { j.Plan = "2031-03-01T03:00:00+01:00" }), "begins at"},
		"that ends":      {nightly(ends(2032)), but(func(j *moving.Job) { j.Until = "2032-03-01T01:00:00+01:00" }), ""},
		"that has ended": {nightly(ends(2029)), nil, "ended at"},
		"with exceptions": {
			nightly(with(func(s *Schedule) { s.Exceptions = []string{"2030-12-25"} })), &plain,
			"its exception 2030-12-25",
		},
		"on a day of both": {nightly(with(func(s *Schedule) { s.Monthdays, s.Weekdays = some(32, 12), some(7, 5) })), nil, "either for enough"},
		"on the last day":  {nightly(with(func(s *Schedule) { s.Monthdays = some(32, 31) })), but(func(j *moving.Job) { j.Cron = "CRON_TZ=Europe/Berlin 0 3 L * *" }), ""},
		"that never comes": {nightly(with(func(s *Schedule) { s.Monthdays, s.Months = some(32, 29), some(12, 1) })), nil, "never comes"},
		"without schedule": {nightly(func(j *Job) { j.Schedules = nil }), nil, "no schedule"},
		"without steps":    {nightly(func(j *Job) { j.Steps = nil }), nil, "no step"},
		"of the shell":     {nightly(step(func(s *Step) { s.Kind = "b" })), nil, "script of the shell"},
		"elsewhere":        {nightly(step(func(s *Step) { s.Database = "stock" })), nil, "--database"},
		"far away": {
			nightly(step(func(s *Step) { s.Database, s.Connection = "", "host=db2 dbname=x" })), but(func(j *moving.Job) { j.Remote = "host=db2 dbname=x" }),
			"remote must bring a password",
		},
		"with a password": {nightly(step(func(s *Step) { s.Database, s.Connection = "", "host=db2 password=secret" })), nil, "holds a password"},
	} {
		jobs, notes := Convert(place, []Job{c.job}, Choice{"shop", `"public"."task"`})
		if (c.want == nil) != (len(jobs) == 0) || c.want != nil && (len(jobs) != 1 || jobs[0] != *c.want) {
			t.Errorf("%s: %+v", name, jobs)
		}
		if c.note == "" && len(notes.All) > 0 || c.note != "" && (len(notes.All) != 1 || !strings.Contains(notes.All[0], c.note) || strings.Contains(notes.All[0], "left out: ") != (c.want == nil)) {
			t.Errorf("%s: %v", name, notes)
		}
		for _, n := range notes.All {
			if strings.Contains(n, "secret") {
				t.Errorf("%s: a password is shown: %s", name, n)
			}
		}
	}
}

// TestSchedulesThatMeet: pgAgent runs the job once at their common times, and never beside itself.
func TestSchedulesThatMeet(t *testing.T) {
	t.Parallel()
	daily, hourly, often := some(24, 3), some(24), some(60, 0, 30)
	schedule := func(name string, change ...func(*Schedule)) Schedule {
		s := nightly().Schedules[0]
		s.Name = name
		for _, change := range change {
			change(&s)
		}
		return s
	}
	at3 := schedule("at 3")
	eachHour := schedule("each hour", func(s *Schedule) { s.Hours = hourly })
	at12 := schedule("at 12", func(s *Schedule) { s.Hours = some(24, 12) })
	twice := schedule("twice", func(s *Schedule) { s.Minutes, s.Hours = often, daily })
	mondays := schedule("mondays", func(s *Schedule) { s.Hours, s.Weekdays = hourly, some(7, 1) })
	later := schedule("later", func(s *Schedule) { s.Start = at(2031) })
	over := schedule("over", func(s *Schedule) { end := at(2029); s.End = &end })
	friday := schedule("friday 13", func(s *Schedule) { s.Monthdays, s.Weekdays = some(32, 12), some(7, 5) })
	last := schedule("last", func(s *Schedule) { s.Monthdays = some(32, 31) })
	for name, c := range map[string]struct {
		schedules []Schedule
		want      string // the keys and times
		note      string
	}{
		"apart":       {[]Schedule{at3, at12}, "nightly: 0 3 * * *; nightly (at 12): 0 12 * * *", ""},
		"the same":    {[]Schedule{at3, at3}, "nightly: 0 3 * * *", "becomes no job"},
		"all":         {[]Schedule{eachHour, at3}, "nightly: 0 * * * *", "becomes no job"},
		"the rest":    {[]Schedule{at3, eachHour}, "nightly: 0 3 * * *; nightly (each hour): 0 0-2,4-23 * * *", ""},
		"of two":      {[]Schedule{at3, at12, eachHour}, "nightly: 0 3 * * *; nightly (at 12): 0 12 * * *; nightly (each hour): 0 0-2,4-11,13-23 * * *", ""},
		"in parts":    {[]Schedule{twice, mondays}, "nightly: 0,30 3 * * *; nightly (mondays): 0 0-2,4-23 * * 1", ""},
		"both parts":  {[]Schedule{mondays, twice}, "nightly: 0 * * * 1; nightly (twice): 30 3 * * *; nightly (twice, 2): 0 3 * * 0,2-6", ""},
		"for a time":  {[]Schedule{later, eachHour}, "nightly: 0 3 * * *; nightly (each hour): 0 * * * *", `where it meets schedule "later"`},
		"from then":   {[]Schedule{eachHour, later}, "nightly: 0 * * * *", "becomes no job"},
		"one is over": {[]Schedule{over, eachHour}, "nightly: 0 * * * *", "left out: it ended"},
		"no words":    {[]Schedule{last, at3}, "nightly: 0 3 L * *; nightly (at 3): 0 3 * * *", `where it meets schedule "last"`},
		"one is lost": {[]Schedule{friday, at12}, "nightly: 0 12 * * * waits", "lacks 1 of its schedules"},
	} {
		jobs, notes := Convert(place, []Job{nightly(func(j *Job) { j.Schedules = c.schedules })}, Choice{"shop", `"public"."task"`})
		var got []string
		for _, j := range jobs {
			got = append(got, j.Key+": "+strings.TrimPrefix(j.Cron, "CRON_TZ=Europe/Berlin "))
			if j.Plan == moving.Paused {
				got[len(got)-1] += " waits"
			}
			if j.Group != "nightly" || j.Active != "0" {
				t.Errorf("%s: %+v", name, j)
			}
		}
		if text := strings.Join(notes.All, "; "); strings.Join(got, "; ") != c.want || c.note == "" && text != "" || !strings.Contains(text, c.note) {
			t.Errorf("%s: %s (%s)", name, strings.Join(got, "; "), text)
		}
	}
}

// TestStepsBecomeAPipeline: only the order of the lane waits for a step that may fail.
func TestStepsBecomeAPipeline(t *testing.T) {
	t.Parallel()
	job := nightly(func(j *Job) {
		j.Steps = []Step{
			{Name: "a\nb", Kind: "s", Code: "SELECT $step$;$step$", Database: "shop", OnError: "f"},
			{Name: "b", Kind: "s", Code: "SELECT 2", Database: "stock", OnError: "i"},
			{Name: "c", Kind: "s", Code: "SELECT 3", Database: "shop", OnError: "s"},
		}
		second := j.Schedules[0]
		second.Name, second.Hours = "noon", some(24, 12)
		j.Schedules = append(j.Schedules, second)
	})
	jobs, notes := Convert(place, []Job{job}, Choice{"shop", `"public"."task"`})
	const want = `DO $pipeline$
DECLARE
    done pg_catalog.int8[]; -- the step that must have ended well
    step pg_catalog.int8;
BEGIN
    -- "a\nb"
    INSERT INTO "public"."task" ("group", max, active, input)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step2$SELECT $step$;$step$$step2$)
    RETURNING id INTO step;
    done := ARRAY[step];
    -- "b"
    INSERT INTO "public"."task" ("group", max, active, input, remote, after)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step$SELECT 2$step$, $text$dbname=stock$text$, done)
    RETURNING id INTO step;
    -- "c"
    INSERT INTO "public"."task" ("group", max, active, input, after)
    VALUES (pg_catalog.current_setting('pg_task.group'), 0, '0', $step$SELECT 3$step$, done)
    RETURNING id INTO step;
END
$pipeline$`
	if len(jobs) != 2 || jobs[0].Input != want || jobs[1].Input != want || jobs[0].Key != "nightly" || jobs[1].Key != "nightly (noon)" || jobs[1].Group != "nightly" {
		t.Errorf("%+v", jobs)
	}
	if len(notes.All) != 1 || !strings.Contains(notes.All[0], `step 2 "b" has its database in remote`) {
		t.Error(notes)
	}
	job.Steps[0].Kind = "b"
	jobs, notes = Convert(place, []Job{job}, Choice{"shop", `"public"."task"`})
	if len(jobs) != 2 || jobs[0].Plan != moving.Paused || len(notes.All) != 3 || !strings.Contains(notes.All[2], "lacks 1 of its steps") {
		t.Errorf("%+v %v", jobs, notes)
	}
}
