package work

import "testing"

// TestMonthsKeepTheirDay: a chain by months counts from its origin, unless somebody has moved the
// task away from it.
func TestMonthsKeepTheirDay(t *testing.T) {
	t.Parallel()
	s := play(t)
	for plan, from := range map[string]string{"2020-04-30 12:00:00+00": "2019-12-31 12:00:00+00", "2020-04-15 12:00:00+00": "2020-04-15 12:00:00+00"} {
		id := s.add("plan, origin, repeat, active, input", plan, "2019-12-31 12:00:00+00", "2 mons", "0", "SELECT 1")
		s.becomes(id, "DONE")
		want := s.get("SELECT min(b)::text FROM (SELECT $1::timestamptz + k * interval '2 mons' AS b FROM generate_series(1, 3000) AS k) AS beats WHERE b > now()", from)
		if got := s.get("SELECT plan::text FROM task WHERE parent = $1", id); got != want {
			t.Errorf("after %s comes %s, want %s", plan, got, want)
		}
	}
}

// TestColumnAddedLater: a repetition copies what users add while the controller runs.
func TestColumnAddedLater(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.exec("ALTER TABLE task ADD COLUMN \"their own\" text")
	for _, input := range []string{"SELECT 1", "CREATE TABLE made ()"} {
		id := s.add(`repeat, "their own", input`, "1 day", "kept", input)
		s.becomes(id, "DONE")
		s.eventually("kept", `SELECT "their own" FROM task WHERE parent = $1`, id)
	}
}

// TestStopFindsTheEndOfAChain, however many of its tasks have ended since the statement began.
func TestStopFindsTheEndOfAChain(t *testing.T) {
	t.Parallel()
	s := play(t)
	const length = "5000"
	s.exec("INSERT INTO task (id, next, state, start, stop, input) SELECT k, k + 1, 'DONE', now(), now() + interval '1 h', 'SELECT 1' FROM generate_series(1001, 1000 + " + length + ") AS k")
	s.exec("INSERT INTO task (id, plan, input) VALUES (1001 + " + length + ", 'infinity', 'SELECT 1')")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = 1001")
	if states := s.get("SELECT string_agg(state::text, ' ' ORDER BY id) FROM task WHERE id IN (1001, 1002, 1001 + " + length + ")"); states != "DONE DONE STOP" {
		t.Error(states)
	}
}
