package work

import (
	"testing"
	"time"
)

// Claim: one row must not stop the others.
func TestOddAttempt(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.add("input, attempt", "SELECT 1", 2147483647)
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	if s.leads() > 1 {
		t.Errorf("led %d times", s.leads())
	}
}

func TestOddRefusedTake(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.state = 'TAKE' AND NEW.data = 'odd' THEN RAISE 'not this one'; END IF; RETURN NEW; END$$`)
	s.exec(`CREATE TRIGGER no BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION no()`)
	s.add("input, data", "SELECT 1", "odd")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
}

func TestOddRefusedMark(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.state = 'WORK' AND NEW.data = 'odd' THEN RAISE 'not this one'; END IF; RETURN NEW; END$$`)
	s.exec(`CREATE TRIGGER no BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION no()`)
	s.add(`input, data, "group"`, "SELECT pg_sleep(2)", "odd", "a")
	s.exec("SELECT pg_sleep(0.5)")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN','TAKE','WORK')")
	if s.leads() > 1 {
		t.Errorf("led %d times", s.leads())
	}
}

// A locked row of a failed task must not stop the others.
func TestLockedFinish(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, "group"`, "SELECT pg_sleep(0.5); SELECT 1/0", "a")
	s.becomes(odd, "WORK")
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR UPDATE", odd); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(1)")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	tx.Rollback(t.Context())
	s.becomes(odd, "FAIL")
}

func TestLockedDrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Second })
	odd := s.add(`input, "group"`, "SELECT pg_sleep(0.5); SELECT 1/0", "a")
	s.becomes(odd, "WORK")
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR UPDATE", odd); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(1)")
	s.drain()
}

// A locked PLAN row: how busy is the loop?
func TestLockedPlanSpin(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.serve()
	s.settled()
	odd := s.add(`input, plan`, "SELECT 1", time.Now().Add(500*time.Millisecond))
	other := s.connect()
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR UPDATE", odd); err != nil {
		t.Fatal(err)
	}
	s.exec("SELECT pg_sleep(2)")
	a := s.get("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
	s.exec("SELECT pg_sleep(5)")
	b := s.get("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
	t.Logf("commits in 5 s: %s to %s", a, b)
}

func TestLongTimeout(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, timeout", "SELECT 1", "300 years")
	s.becomes(id, "DONE")
	if n := s.get("SELECT interrupted FROM task WHERE id = $1", id); n != "0" {
		t.Error("interrupted", n)
	}
}

func TestWaitKeyClashCut(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, "group", key`, "SELECT pg_sleep(3)", "a", "k")
	s.becomes(odd, "WORK")
	s.add(`input, "group", key, plan`, "SELECT 1", "b", "k", "infinity")
	// an end of the session without a word: as after a crash
	s.exec("UPDATE task SET pid = 1 WHERE id = $1", odd)
	s.exec("SELECT pg_sleep(4)")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	t.Log(s.get("SELECT json_agg(t) FROM (SELECT id, state, error, runs, interrupted FROM task ORDER BY id) t"))
}

func TestWaitKeyClashRetry(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add(`input, "group", key, retry`, "SELECT pg_sleep(0.5); SELECT 1/0", "a", "k", 3)
	s.becomes(odd, "WORK")
	s.add(`input, "group", key, plan`, "SELECT 1", "b", "k", "infinity")
	s.exec("SELECT pg_sleep(2)")
	id := s.add("input", "SELECT 2")
	s.becomes(id, "DONE")
	t.Log(s.get("SELECT json_agg(t) FROM (SELECT id, state, error, runs, interrupted FROM task ORDER BY id) t"))
}

// Stop between claim and mark.
func TestStopBeforeMark(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE FUNCTION st() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.state = 'TAKE' THEN UPDATE public.task SET state = 'STOP' WHERE id = NEW.id; END IF; RETURN NULL; END$$`)
	s.exec(`CREATE TRIGGER st AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION st()`)
	id := s.add("input", "VACUUM task")
	s.becomes(id, "STOP")
	s.eventually("false", "SELECT stop IS NULL FROM task WHERE id = $1", id)
	t.Log(s.get("SELECT json_agg(t) FROM (SELECT id, state, start, stop, error FROM task ORDER BY id) t"))
	s.eventually("t", "SELECT stop > now() - interval '1 min' FROM task WHERE id = $1", id)
}
