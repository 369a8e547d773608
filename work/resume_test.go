package work

import "testing"

// TestAParkedJobStaysParked: until somebody sets its plan, whatever else of it changes. The plan of
// an INSERT lets it wait for its next beat.
func TestAParkedJobStaysParked(t *testing.T) {
	t.Parallel()
	s := play(t)
	cron := s.add("input, cron, plan", "SELECT 1", "@yearly", "infinity")
	repeat := s.add("input, repeat, plan, origin", "SELECT 1", "1 day", "infinity", s.get("SELECT now() - interval '1 day'"))
	parked := func(sql string) {
		t.Helper()
		s.exec("UPDATE task SET " + sql)
		s.eventually("2", "SELECT count(*) FROM task WHERE plan = 'infinity' AND state = 'PLAN' AND due = plan")
	}
	parked("max = 1")
	for _, expr := range []string{"* * * * *", "TZ=Asia/Tokyo * * * * *", "@every 1 s"} {
		parked("cron = '" + expr + "' WHERE cron IS NOT NULL")
	}
	parked("repeat = '1 s' WHERE repeat > '0'")
	parked("state = 'STOP'; UPDATE task SET state = 'PLAN'")
	parked("repeat = '0', cron = '@daily' WHERE repeat > '0'; UPDATE task SET cron = NULL, repeat = '1 hour' WHERE cron = '@every 1 s'; UPDATE task SET input = 'SELECT 2'")
	s.exec("UPDATE task SET plan = DEFAULT WHERE id = $1", repeat) // it has a cron now
	s.eventually("true", "SELECT plan = date_trunc('day', now()) + interval '1 day' FROM task WHERE id = $1", repeat)
	s.exec("UPDATE task SET plan = DEFAULT WHERE id = $1", cron)
	s.becomes(cron, "DONE")
}

// TestAPausedSeriesWaitsForItsNextBeat if it has been paused for longer than active. What has no
// next beat is given up.
func TestAPausedSeriesWaitsForItsNextBeat(t *testing.T) {
	t.Parallel()
	s := play(t)
	cron, last := s.hourly()
	const paused = "input, state, plan"
	late := s.get("SELECT $1::timestamptz - interval '10 hours'", last)
	beats := map[string]int64{
		"cron":       s.add(paused+", cron, active", "SELECT 1", "STOP", late, cron, "10 min"),
		"every":      s.add(paused+", cron, active", "SELECT 1", "STOP", late, "@every 1 hour", "10 min"),
		"repeat":     s.add(paused+", repeat, active", "SELECT 1", "STOP", late, "1 hour", "10 min"),
		"drift":      s.add(paused+", repeat, drift, active", "SELECT 1", "STOP", late, "1 hour", true, "10 min"),
		"origin":     s.add(paused+", repeat, origin, active", "SELECT 1", "STOP", late, "1 hour", s.get("SELECT $1::timestamptz - interval '5 hours'", late), "10 min"),
		"failed":     s.add(paused+", repeat, max_failures, failures, active", "SELECT 1", "STOP", late, "1 hour", 3, 3, "10 min"),
		"failedcron": s.add(paused+", cron, origin, max_failures, failures, active", "SELECT 1", "STOP", late, cron, late, 3, 3, "10 min"),
	}
	soon := s.add(paused+", repeat, active", "SELECT 1", "STOP", late, "1 hour", "1 day")
	single := s.add(paused+", active", "SELECT 1", "STOP", late, "10 min")
	over := s.add(paused+", repeat, until, active, catchup", "SELECT 1", "STOP", late, "1 hour", late, "10 min", 1)
	s.exec("UPDATE task SET catchup = 0 WHERE id = $1", over)
	s.exec("UPDATE task SET state = 'PLAN'")
	for name, id := range beats {
		s.eventually("true", "SELECT plan = $2::timestamptz + interval '1 hour' AND state = 'PLAN' AND failures = 0 AND due = plan FROM task WHERE id = $1", id, last)
		t.Log(name)
	}
	s.becomes(soon, "DONE")
	s.becomes(single, "GONE")
	s.becomes(over, "GONE")
	s.eventually("0", "SELECT count(*) FROM task WHERE parent = $1", over)
}
