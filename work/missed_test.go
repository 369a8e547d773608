package work

import "testing"

// TestMissedBeats: of the beats that were missed the newest are run, as many as catchup says; the
// first repetition says how many were passed over.
func TestMissedBeats(t *testing.T) {
	t.Parallel()
	s := play(t)
	for _, c := range []struct {
		name, columns string
		beats         string // hours before the row was inserted, with what was passed over before
	}{
		{"all are passed over", "", "10.5+0 -0.5+10"},
		{"the newest are run", "catchup = 3", "10.5+0 2.5+7 1.5+0 0.5+0 -0.5+0"},
		{"fewer were missed", "catchup = 30, plan = plan + '8 hours'", "2.5+0 1.5+0 0.5+0 -0.5+0"},
		{"none was missed", "catchup = 3, plan = plan + '10 hours'", "0.5+0 -0.5+0"},
		{"no more than until", "catchup = 3, until = now() - interval '5 hours'", "10.5+0 7.5+2 6.5+0 5.5+0"},
		{"until is over", "until = now() - interval '5 hours'", "10.5+0"},
		{"as many as there may be", "catchup = 2147483647, until = now() - interval '7 hours'", "10.5+0 9.5+0 8.5+0 7.5+0"},
	} {
		for _, input := range []string{"SELECT 1", "SELECT 1/0", "CREATE TEMP TABLE IF NOT EXISTS t ()"} {
			set := c.columns
			if set == "" {
				set = "catchup = 0"
			}
			id := s.add("input, state, repeat, active, max, plan, data", input, "STOP", "1 hour", "0", 100, "2000-01-01", "")
			s.exec("UPDATE task SET plan = now() - interval '10.5 hours' WHERE id = $1", id)
			s.exec("UPDATE task SET "+set+", data = id, created = now() WHERE id = $1", id)
			began := s.get("SELECT created FROM task WHERE id = $1", id)
			s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", id)
			chain := "SELECT string_agg(round(extract(epoch FROM $2::timestamptz - plan)::numeric / 3600, 1)::float8 || '+' || skipped, ' ' ORDER BY id) FROM task WHERE data = $1::int8::text"
			s.eventually(c.beats, chain, id, began)
			s.eventually("0", "SELECT count(*) FROM task WHERE data = $1::int8::text AND plan < now() AND state IN ('PLAN', 'WORK')", id)
			if got := s.get(chain, id, began); got != c.beats {
				t.Errorf("%s, %s: %s, want %s", c.name, input, got, c.beats)
			}
		}
	}
}

// TestFailuresInARow pause the job at max_failures; resumed, it counts from 0.
func TestFailuresInARow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE broken AS SELECT true AS yes")
	add := func(columns string) int64 {
		return s.add("input, repeat, active, catchup, plan, max_failures"+columns, "SELECT 1 / (NOT yes)::int FROM broken", "1 hour", "0", 100, s.get("SELECT now() - interval '4.5 hours'"), 3)
	}
	id := add("")
	last := "SELECT state, failures, error FROM task WHERE key IS NULL ORDER BY id DESC LIMIT 1"
	paused := "ERROR:  paused after 3 failures in a row\nHINT:  Set it to PLAN to go on."
	s.eventually("STOP", "SELECT state FROM task ORDER BY id DESC LIMIT 1")
	if got := s.get("SELECT format('%s %s %s', state, failures, error) FROM (" + last + ") AS l"); got != "STOP 3 "+paused {
		t.Error(got)
	}
	s.exec("UPDATE broken SET yes = false")
	s.exec("UPDATE task SET state = 'PLAN' WHERE state = 'STOP'")
	s.eventually("0", "SELECT count(*) FROM task WHERE plan < now() AND state IN ('PLAN', 'WORK')")
	if got := s.get("SELECT string_agg(format('%s %s %s', state, failures, error IS NULL), ', ' ORDER BY id) FROM task WHERE id >= $1", id); got != "FAIL 0 f, FAIL 1 f, FAIL 2 f, DONE 0 t, DONE 0 t, PLAN 0 t" {
		t.Error(got)
	}
}

// TestOverlap: the repetition is there from the start of the run on, once.
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
	s.eventually("2", "SELECT count(*) FROM task WHERE state = 'WORK'") // beside the first
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.eventually("FAIL FAIL STOP", "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task")
	if got := s.get("SELECT count(DISTINCT parent) FROM task"); got != "2" {
		t.Error("repetitions of", got)
	}
}

// TestStopWithOverlap stops the repetition, too.
func TestStopWithOverlap(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, repeat, overlap", "SELECT pg_sleep(60)", "1 day", true)
	s.eventually("WORK", "SELECT state FROM task WHERE id = $1 AND next IS NOT NULL", id)
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.eventually("STOP STOP", "SELECT string_agg(state::text, ' ' ORDER BY id) FROM task WHERE stop IS NOT NULL OR id > $1::int8", id)
}

// TestAnotherPeriod of a job that waits counts from the beat before.
func TestAnotherPeriod(t *testing.T) {
	t.Parallel()
	s := play(t)
	first := s.add("input, repeat, active, plan", "SELECT 1", "1 day", "0", s.get("SELECT now() - interval '25 hours'"))
	s.eventually("1", "SELECT count(*) FROM task WHERE parent = $1", first)
	s.exec("UPDATE task SET repeat = '90 min' WHERE parent = $1", first) // the beat before was an hour ago
	if got := s.get("SELECT round(extract(epoch FROM n.plan - t.plan) / 60) FROM task AS t JOIN task AS n ON n.id = t.next"); got != "1530" {
		t.Error("minutes between the two:", got)
	}
	alone := s.add("input, repeat, plan", "SELECT 1", "1 day", s.get("SELECT now() + interval '3 hours'"))
	plan := s.get("SELECT plan FROM task WHERE id = $1", alone)
	s.exec("UPDATE task SET repeat = '1 min' WHERE id = $1", alone)
	if got := s.get("SELECT plan FROM task WHERE id = $1", alone); got != plan {
		t.Error("the first of a chain has moved to", got)
	}
	s.exec("UPDATE task SET repeat = '2 hours', plan = '2100-01-01' WHERE parent = $1", first)
	if got := s.get("SELECT plan = '2100-01-01' FROM task WHERE parent = $1", first); got != "true" {
		t.Error("a plan that is set as well does not stand")
	}
}
