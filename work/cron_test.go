package work

import (
	"strings"
	"testing"
)

// TestCron: a task waits for the first match after its INSERT, unless it has a plan, and then each
// time for the next match.
func TestCron(t *testing.T) {
	t.Parallel()
	s := play(t, inBerlin)
	const next = "SELECT plan = date_trunc('hour', created) + interval '1 hour' AND origin IS NULL AND base IS NULL FROM task WHERE id = $1"
	id := s.add("input, cron", "SELECT 1", "0 * * * *")
	s.eventually("true", next, id)
	if got := s.state(id); got != "PLAN" {
		t.Error(got)
	}
	night := s.add("input, cron", "SELECT 1", "30 2 * * *")
	s.eventually("02:30", "SELECT to_char(plan AT TIME ZONE 'Europe/Berlin', 'HH24:MI') FROM task WHERE id = $1 AND origin IS NULL", night)

	given := s.add("input, cron, plan", "SELECT 1", "0 0 1 1 *", s.get("SELECT now() - interval '1 min'"))
	s.becomes(given, "DONE")
	s.eventually("PLAN 01-01 00:00 0", "SELECT format('%s %s %s', state, to_char(plan AT TIME ZONE 'Europe/Berlin', 'MM-DD HH24:MI'), skipped) FROM task WHERE parent = $1 AND origin IS NULL", given)
	later := s.add("input, cron, plan", "SELECT 1", "@daily", "2100-01-01 12:34:00+00")
	s.eventually("true", "SELECT plan = '2100-01-01 12:34:00+00' FROM task WHERE id = $1 AND origin IS NULL", later)

	s.exec("UPDATE task SET cron = '30 3 * * *' WHERE id = ANY ($1)", []int64{night, later})
	s.eventually("2", "SELECT count(*) FROM task WHERE to_char(plan AT TIME ZONE 'Europe/Berlin', 'HH24:MI') = '03:30' AND plan < now() + interval '25 hours' AND origin IS NULL AND id = ANY ($1)", []int64{night, later})
	s.exec("UPDATE task SET cron = '30 4 * * *', plan = '2100-01-01' WHERE id = $1", night)
	s.eventually("true", "SELECT plan = '2100-01-01' FROM task WHERE id = $1 AND origin IS NULL", night)
}

func inBerlin(target *Target) { target.TimeZone = "Europe/Berlin" }

// TestCronWithKey: an INSERT … ON CONFLICT defines a job again.
func TestCronWithKey(t *testing.T) {
	t.Parallel()
	s := play(t, inBerlin)
	const upsert = "INSERT INTO task (key, input, cron) VALUES ('job', 'SELECT 1', $1) ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET cron = excluded.cron RETURNING id"
	define := func(cron string) (id int64) {
		if err := s.conn.QueryRow(t.Context(), upsert, cron).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := define("15 1 * * *")
	for _, hour := range []string{"1", "2", "2", "3"} {
		if again := define("15 " + hour + " * * *"); again != id {
			t.Fatal(again)
		}
		s.eventually("0"+hour+":15", "SELECT to_char(plan AT TIME ZONE 'Europe/Berlin', 'HH24:MI') FROM task WHERE key = 'job' AND origin IS NULL")
	}
}

// hourly is a cron expression for each hour, half an hour from now, and its last time before now.
func (s *stage) hourly() (cron, last string) {
	s.t.Helper()
	minute := s.get("SELECT (extract(minute FROM now())::int4 + 30) % 60")
	return minute + " * * * *", s.get("SELECT date_trunc('hour', now() - $1 * interval '1 min') + $1 * interval '1 min'", minute)
}

// TestCronThatMissedBeats: a late run skips the missed beats, or runs the newest of them.
func TestCronThatMissedBeats(t *testing.T) {
	t.Parallel()
	s := play(t)
	cron, last := s.hourly()
	first := s.get("SELECT $1::timestamptz - interval '10 hours'", last)
	for catchup, want := range map[int]string{0: "0 10", 3: "0 7 0 0 0", 50: "0 0 0 0 0 0 0 0 0 0 0 0"} {
		next := s.get("SELECT nextval('task_id_seq')") // data is the id from the start: the repetitions copy it
		id := s.add("id, data, input, cron, active, catchup, plan, max", next, next, "SELECT 1", cron, "0", catchup, first, 1000)
		const chain = "SELECT string_agg(skipped::text, ' ' ORDER BY id) FROM task WHERE id = $1 OR data = $1::int8::text"
		s.eventually("1", "SELECT count(*) FROM task WHERE data = $1::int8::text AND plan = $2::timestamptz + interval '1 hour' AND origin IS NULL", id, last)
		if got := s.get(chain, id); got != want {
			t.Errorf("catchup %d: %s, want %s", catchup, got, want)
		}
	}
	gone := s.add("input, cron, plan", "SELECT 1", cron, first)
	s.becomes(gone, "GONE")
	s.eventually("t 10", "SELECT format('%s %s', plan = $2::timestamptz + interval '1 hour', skipped) FROM task WHERE parent = $1 AND origin IS NULL", gone, last)
}

// TestCronUntil: the last run has no repetition.
func TestCronUntil(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, cron, plan, until", "SELECT 1", "0 0 1 * *", s.get("SELECT now()"), s.get("SELECT date_trunc('month', now()) + interval '1 month' - interval '1 s'"))
	s.becomes(id, "DONE")
	s.eventually("1 t", "SELECT format('%s %s', count(*), bool_and(next IS NULL)) FROM task")
	id = s.add("input, cron, plan, until", "SELECT 1", "0 0 1 * *", s.get("SELECT now()"), s.get("SELECT date_trunc('month', now()) + interval '1 month'"))
	s.becomes(id, "DONE")
	s.eventually("true", "SELECT plan = until FROM task WHERE parent = $1 AND origin IS NULL", id)
}

// TestCronThatCannotBeRead: the task FAILs at once, not when it would be due.
func TestCronThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role TO replica") // no trigger checks it
	for cron, why := range map[string]string{
		"nonsense": `cron ends at character 9 after 1 field%`, "TZ=Nowhere/City 0 0 * * *": `time zone "Nowhere/City" at character 4 is not known%`, "0 0 30 2 *": "%never%",
		strings.Repeat("1,", 1<<20) + "1 * * * *": "cron is longer than 1 kB", "": "cron is empty",
	} {
		id := s.add("input, cron, plan, origin, on_fail", "SELECT 1", cron, "2100-01-01", "-infinity", "SELECT 'cry'")
		s.becomes(id, "FAIL")
		if got := s.get("SELECT format('%s %s %s', error LIKE 'ERROR:  ' || $2, sqlstate, stop IS NOT NULL AND next IS NULL) FROM task WHERE id = $1", id, why); got != "t 22023 t" {
			t.Error(got, s.get("SELECT left(error, 200) FROM task WHERE id = $1", id))
		}
		if got := s.get("SELECT string_agg(input, ' ') FROM task WHERE parent = $1", id); got != "SELECT 'cry'" {
			t.Error("what follows:", got)
		}
	}
}

// TestCronThatWaitsWhilePaused: if a task was paused before it got a plan, its beats count from
// when it goes on.
func TestCronThatWaitsWhilePaused(t *testing.T) {
	t.Parallel()
	s := play(t)
	cron, last := s.hourly()
	id := s.add("input, cron, state, plan, origin", "SELECT 1", cron, "STOP", s.get("SELECT now() - interval '2 days'"), s.get("SELECT now() - interval '3 days'"))
	s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", id)
	s.eventually("true", "SELECT plan = $2::timestamptz + interval '1 hour' AND skipped IN (71, 72) FROM task WHERE id = $1 AND origin IS NULL", id, last)
}

// TestVeryOldPlansKeepNobodyWaiting: the next time of a cron is found as fast for an old plan.
func TestVeryOldPlansKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input, cron, plan) SELECT 'c', '', '0 30 2 29 2 *', '2000-01-01 BC' FROM generate_series(1, 300)`)
	s.exec(`INSERT INTO task ("group", input, cron, plan, origin) SELECT 'o', '', '@every 1 s', '9999-01-01', '4713-01-02 BC' FROM generate_series(1, 20)`)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.eventually("300", `SELECT count(*) FROM task WHERE "group" = 'c' AND state = 'PLAN' AND plan > now() AND origin IS NULL`)
	s.eventually("20", `SELECT count(*) FROM task WHERE "group" = 'o' AND state = 'PLAN' AND plan = '9999-01-01 00:00:01' AND origin IS NULL`)
	if n := s.leads(); n != 1 {
		t.Errorf("led %d times", n)
	}
}

// TestABeatOutOfTheRangeOfPlanFails: its task FAILs, once.
func TestABeatOutOfTheRangeOfPlanFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	for _, id := range []int64{
		s.add("input, cron, plan, origin", "SELECT 1", "0 0 29 2 *", "9999-01-01", "4713-01-02 BC"),
		s.add("input, cron, plan, origin, catchup", "SELECT 1", "0 0 29 2 *", "2026-01-01", "4713-01-02 BC", 1<<30),
		s.add("input, cron, plan, origin", "SELECT 1", "@every 1000 years", "2026-01-01", "294276-01-02"),
	} {
		s.becomes(id, "FAIL")
		if got := s.get("SELECT sqlstate || ' ' || error FROM task WHERE id = $1", id); got != "22023 ERROR:  the next run of cron is out of the range of plan: from 2000 BC to the year 9999" {
			t.Error(got)
		}
	}
}

// TestASeriesDoesNotEndByAnOddTimeZone: somebody sets an odd zone, and the series waits.
func TestASeriesDoesNotEndByAnOddTimeZone(t *testing.T) {
	t.Parallel()
	s := play(t)
	database := s.get("SELECT current_database()")
	s.add("input, cron", "SELECT 1", "* * * * * *")
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	s.drain()
	s.exec("ALTER DATABASE " + database + " SET TimeZone = '<x>+167:59'")
	s.serve()
	s.says("is no name of the tz database: repetitions by cron wait")
	fails := s.add("input, cron", "SELECT 1", "* * * * * *") // its author sees that at once
	s.becomes(fails, "FAIL")
	before := s.get("SELECT count(*) FROM task WHERE state = 'DONE'")
	s.exec("ALTER DATABASE " + database + " RESET TimeZone")
	s.eventually("true", "SELECT count(*) > $1::int8 FROM task WHERE state = 'DONE'", before)
	if got := s.get("SELECT count(*) FROM task WHERE state = 'FAIL' AND id <> $1", fails); got != "0" {
		t.Error("the series has ended")
	}
}
