package work

import "testing"

// TestStopFindsTheEndOfAChain: however many of its tasks have ended since the statement began.
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

// TestStopWithOverlap: the repetition is stopped, too.
func TestStopWithOverlap(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, repeat, overlap", "SELECT pg_sleep(60)", "1 day", true)
	s.eventually("WORK", "SELECT state FROM task WHERE id = $1 AND next IS NOT NULL", id)
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.eventually("STOP STOP", "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task WHERE stop IS NOT NULL OR id > $1::int8", id)
}
