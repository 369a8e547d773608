package work

import "testing"

// Tests of ends and marks that one statement writes together.

// TestTurnOfParts: rows of different partitions have the same place, and one is not taken for the
// other.
func TestTurnOfParts(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(`CREATE TABLE task (id bigserial, "group" text NOT NULL DEFAULT 'a', input text NOT NULL) PARTITION BY LIST ("group");
		CREATE TABLE task_a PARTITION OF task FOR VALUES IN ('a'); CREATE TABLE task_b PARTITION OF task DEFAULT`)
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task (input, "group", remote, rerun, max, "null") SELECT 'SELECT ' || i || ' WHERE true', (ARRAY['a', 'b', 'c'])[i % 3 + 1], `+
		`CASE i % 2 WHEN 0 THEN $1 END, i % 2 = 1, 9, i FROM generate_series(1, 120) AS i`, s.dsn)
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	if n := s.get(`SELECT count(*) FROM task WHERE output = "null" AND start <= stop AND attempt = 1 AND atomic = (remote IS NULL)`); n != "120" {
		t.Error(n, " tasks ended as they should")
	}
}

// TestTurnWithOddOnes: a row that refuses its end or its mark when all is committed keeps others
// from neither, and what is not marked does not start.
func TestTurnWithOddOnes(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE effect (id int8);
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not this one'; END$$;
		CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
			WHEN (NEW.data = NEW.state::text) EXECUTE FUNCTION refuse()`)
	s.exec(`INSERT INTO task (input, remote, max, "group", data) SELECT 'INSERT INTO public.effect VALUES (' || i || ')', $1, 9, 'remote', `+
		`CASE i % 20 WHEN 0 THEN 'WORK' WHEN 1 THEN 'DONE' END FROM generate_series(1, 60) AS i`, s.dsn)
	s.exec(`INSERT INTO task (input, max, data) SELECT 'SELECT 1', 9, CASE i % 20 WHEN 1 THEN 'DONE' END FROM generate_series(1, 60) AS i`)
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
	if n := s.get(`SELECT count(*) FROM task WHERE state = CASE WHEN data IS NULL THEN 'DONE' ELSE 'FAIL' END::state AND attempt = 1`); n != "120" {
		t.Error(n, " tasks ended as they should")
	}
	if n := s.get("SELECT count(DISTINCT id) || ' of ' || count(*) FROM effect WHERE id % 20 <> 0"); n != "57 of 57" {
		t.Error("effects: ", n)
	}
	if n := s.get("SELECT count(*) FROM effect WHERE id % 20 = 0"); n != "0" {
		t.Error("tasks that could not be marked have started: ", n)
	}
	s.others()
}

// TestTurnRepeats: a task that is made to repeat while it runs does so.
func TestTurnRepeats(t *testing.T) {
	t.Parallel()
	s := play(t)
	holder := s.connect()
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_lock(7)"); err != nil {
		t.Fatal(err)
	}
	for _, remote := range []*string{nil, &s.dsn} {
		id := s.add("input, remote", "SELECT pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7)", remote)
		s.becomes(id, "WORK")
		s.exec("UPDATE task SET repeat = '1 day' WHERE id = $1", id)
	}
	if _, err := holder.Exec(t.Context(), "SELECT pg_advisory_unlock(7)"); err != nil {
		t.Fatal(err)
	}
	s.eventually("2", "SELECT count(*) FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.state = 'DONE' AND n.state = 'PLAN' AND n.repeat = '1 day'")
}

// TestReadsEnd: a round of the loop reads so much and no more, whatever there is, as ends wait to
// be written meanwhile.
func TestReadsEnd(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 }) // so that nothing starts
	l := s.installed()
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT 1', i FROM generate_series(1, 4000) AS i`)
	l.Lanes.Pace(mostAhead)
	if err := l.scan(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := l.prefetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(l.tasks); n != prefetchTimes*batchMost {
		t.Error(n, " are read")
	}
}
