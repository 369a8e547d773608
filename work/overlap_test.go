package work

import "testing"

// TestOverlap: the repetition exists from the start of the run on, once.
func TestOverlap(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE gate (); CREATE TABLE broken AS SELECT true AS yes")
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE gate"); err != nil {
		t.Fatal(err)
	}
	const input = "SELECT FROM gate; SELECT 1 / (NOT yes)::int FROM broken"
	id := s.add("input, repeat, overlap, max, max_failures", input, "1 day", true, 1, 1)
	s.eventually("WORK", "SELECT state FROM task WHERE id = $1 AND next IS NOT NULL", id)
	next := s.get("SELECT next FROM task WHERE id = $1", id)
	if got := s.get("SELECT format('%s %s', state, plan > now()) FROM task WHERE parent = $1", id); got != "PLAN t" {
		t.Error(got)
	}
	if _, err := s.conn.Exec(t.Context(), "UPDATE task SET plan = now() WHERE id = $1", next); err != nil {
		t.Fatal(err)
	}
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'WORK'") // at the same time as the first
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.eventually("FAIL FAIL STOP", "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task")
	if got := s.get("SELECT count(DISTINCT parent) FROM task"); got != "2" {
		t.Error("repetitions of", got)
	}
}
