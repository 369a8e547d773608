package work

import "testing"

// TestBeatsOfAgesKeepNobodyWaiting: how old a plan is says nothing of how long its next one takes.
func TestBeatsOfAgesKeepNobodyWaiting(t *testing.T) {
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

// TestABeatOutOfTheRangeOfPlanFails its task, once for all.
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
