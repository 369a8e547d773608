package work

import "testing"

// TestAnotherRowOfTheSameIDEndsNoSeries: a partitioned table can have an ended row with the id of a
// running job. When the job ends, that row gets no repetition, and does not make the job's end
// fail.
func TestAnotherRowOfTheSameIDEndsNoSeries(t *testing.T) {
	t.Parallel()
	for what, row := range someOf(map[string]string{
		"one that has a plan":              "(id, state, plan, repeat, stop, notify, on_fail, input) VALUES ($1, 'FAIL', '2020-01-01', '1 day', now(), 'heard', 'SELECT 2', '')",
		"one without a plan":               "(id, state, plan, repeat, stop, input) VALUES ($1, 'FAIL', 'infinity', '1 day', now(), '')",
		"one that has told its repetition": "(id, state, plan, next, overlap, failures, max_failures, stop, input) VALUES ($1, 'FAIL', '2020-01-01', 999999, true, 1, 1, now(), '')",
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			must(t, s.conn, parts)
			s.exec("CREATE TABLE effect (); SELECT pg_advisory_lock(7)")
			s.serve()
			s.settled()
			s.exec("INSERT INTO task (id, plan, input) VALUES (999999, 'infinity', '')")
			id := s.add(`input, repeat, "group"`, "INSERT INTO effect DEFAULT VALUES; SELECT pg_advisory_xact_lock_shared(7)", "1 day", "job")
			s.becomes(id, "WORK")
			s.exec("INSERT INTO task "+row, id)
			s.exec("SELECT pg_advisory_unlock(7)")
			s.eventually("DONE", `SELECT state FROM task WHERE id = $1 AND "group" = 'job'`, id)
			if got := s.get(`SELECT concat_ws(' ', (SELECT count(*) FROM effect), count(*), count(n.id), min(n."group"), min(n.repeat::text)) FROM task AS t
				LEFT JOIN task AS n ON n.id = t.next AND n.parent = t.id WHERE t.id = $1 AND t."group" = 'job'`, id); got != "1 1 1 job 1 day" {
				t.Error("effects, rows, repetitions: ", got)
			}
			if got := s.get(`SELECT concat_ws(' ', state, error, (SELECT count(*) FROM task WHERE parent = $1)) FROM task WHERE id = $1 AND "group" <> 'job'`, id); got != "FAIL 1" {
				t.Error("the other: ", got)
			}
			if got := s.get("SELECT concat_ws(' ', state, failures) FROM task WHERE id = 999999"); got != "PLAN 0" {
				t.Error("what the other calls its repetition: ", got)
			}
			s.others()
		})
	}
}

// TestWhyThereIsNoRepetitionIsSaidInItsRow: and in no other row with its id.
func TestWhyThereIsNoRepetitionIsSaidInItsRow(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	s.exec("ALTER TABLE task ADD CONSTRAINT odd CHECK (data <> 'odd' OR parent IS NULL)")
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec("INSERT INTO task (id, input, plan, active, repeat, data) VALUES ($1, 'SELECT 1', '2020-01-01', '1 s', '1 day', 'odd')", id)
	s.eventually("true", "SELECT error LIKE '%task not active%odd%' FROM task WHERE id = $1 AND data = 'odd'", id)
	if error := s.get("SELECT coalesce(error, 'none') FROM task WHERE id = $1 AND data IS NULL", id); error != "none" {
		t.Error(error)
	}
}

// TestTwoOfOneIDThatEndTogether: each has one repetition.
func TestTwoOfOneIDThatEndTogether(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	id := s.add("input, plan", "SELECT 1", "infinity")
	s.exec(`INSERT INTO task (id, input, "group", plan, active, repeat)
		SELECT $1::int8, 'SELECT 1', 'g' || i, timestamptz '2020-06-01' + i * interval '1 year', '1 s', '1 day' FROM generate_series(1, 2) AS i`, id)
	s.eventually("2", "SELECT count(*) FROM task WHERE id = $1 AND error LIKE '%not active' AND next IS NOT NULL", id)
	if groups := s.get(`SELECT string_agg("group", ' ' ORDER BY "group") FROM task WHERE parent = $1`, id); groups != "g1 g2" {
		t.Error(groups)
	}
}

// TestAnotherRowOfTheSameIDTakesNoRepetitionBack: a row that has no beat before until is deleted. A
// task whose next has the same id keeps its next.
func TestAnotherRowOfTheSameIDTakesNoRepetitionBack(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	must(t, s.conn, parts)
	s.serve()
	s.settled()
	id := s.add("input, repeat", "SELECT 1", "1 day")
	s.becomes(id, "DONE")
	next := s.get("SELECT next FROM task WHERE id = $1", id)
	s.exec("INSERT INTO task (id, parent, input, cron, until, origin) VALUES ($1::text::int8, $2, 'SELECT 1', '@daily', '2020-01-01', '2020-01-01')", next, id)
	s.eventually("0", "SELECT count(*) FROM task WHERE cron IS NOT NULL")
	if got := s.get("SELECT coalesce(next, 0) FROM task WHERE id = $1", id); got != next {
		t.Errorf("it has %s, and had %s", got, next)
	}
}
