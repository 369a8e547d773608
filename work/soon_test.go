package work

import (
	"testing"
	"time"
)

// early is a stage whose loop reads tasks long before their plan.
func early(t *testing.T) *led {
	return leadAs(t, func(l *loop) { l.ahead = time.Hour })
}

// soon adds a task for later, and waits until it is read.
func (s *led) soon(in string) (id int64) {
	s.t.Helper()
	s.exec(`INSERT INTO task (input, plan) VALUES ('SELECT 1', statement_timestamp() + $1::text::interval)`, in)
	id = s.number("SELECT max(id) FROM task")
	s.until("it is read", func() bool { return s.seen.has(id) })
	return id
}

func (s *led) number(sql string) (n int64) {
	s.t.Helper()
	if err := s.conn.QueryRow(s.t.Context(), sql).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestSoonStarts: what is read before its plan starts at it, and not before.
func TestSoonStarts(t *testing.T) {
	t.Parallel()
	s := early(t)
	s.exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', 'g' || i % 3, statement_timestamp() + interval '4 s' + i * interval '3 ms' FROM generate_series(1, 100) AS i`)
	s.until("done", func() bool {
		return s.get("SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1 AND start >= plan AND output = '1'") == "100"
	})
	if s.seen.before(300*time.Millisecond) < 50 {
		t.Error("too few were read before")
	}
	s.others()
}

// TestSoonWaits: it waits for its lane, and comes behind what is more urgent there.
func TestSoonWaits(t *testing.T) {
	t.Parallel()
	s := early(t)
	holder := s.connect()
	s.tell(holder, "SELECT pg_advisory_lock(7)")
	first := s.add("input", "SELECT pg_advisory_xact_lock(7)")
	s.becomes(first, "WORK")
	soon := s.soon("1 s")
	urgent := s.add("input, priority", "SELECT 1", 5)
	s.eventually("true", "SELECT plan < clock_timestamp() FROM task WHERE id = $1", soon)
	s.until("both wait", func() bool { _, waiting, ready := s.loop.Lanes.Load(); return waiting+ready == 2 })
	s.tell(holder, "SELECT pg_advisory_unlock(7)")
	s.eventually("3", "SELECT count(*) FROM task WHERE state = 'DONE' AND attempt = 1")
	if s.get("SELECT (SELECT start FROM task WHERE id = $1) < (SELECT start FROM task WHERE id = $2)", urgent, soon) != "true" {
		t.Error("the urgent one came later")
	}
}

// TestSoonIsLeftAsItWas: it can be stopped and deleted like others, and a drain leaves no trace of
// it.
func TestSoonIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	s := early(t)
	stopped := s.soon("1 hour")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
	deleted := s.soon("50 min")
	s.exec("DELETE FROM task WHERE id = $1", deleted)
	kept := s.soon("40 min")
	s.drain()
	if row := s.row(stopped, "state, start, stop, attempt"); row != `{"state":"STOP","start":null,"stop":null,"attempt":0}` {
		t.Error(row)
	}
	if got := s.get("SELECT state || ' ' || attempt || ' ' || interrupted || ' ' || (start IS NULL) FROM task WHERE id = $1", kept); got != "PLAN 0 0 true" {
		t.Error(got)
	}
}

func TestSoonWhileLeadershipIsLost(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, plan) SELECT 'SELECT 1', statement_timestamp() + i * interval '5 ms' FROM generate_series(1, 400) AS i")
	for range 2 {
		leads := s.leads()
		s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
		s.until("another leads", func() bool { return s.leads() > leads })
	}
	s.eventually("400", "SELECT count(*) FROM task WHERE state = 'DONE' AND start >= plan")
}

// TestSoonButPaused: a lane with a pause is not read from before the moment.
func TestSoonButPaused(t *testing.T) {
	t.Parallel()
	s := early(t)
	s.exec(`INSERT INTO task (input, "group", max, plan) VALUES ('SELECT 1', 'pause', -1000, statement_timestamp() + interval '30 min')`)
	s.soon("31 min")
	if got := s.get(`SELECT state FROM task WHERE "group" = 'pause'`); got != "PLAN" {
		t.Error(got)
	}
}

// TestSoonIsWarm: there is a session for it before its moment.
func TestSoonIsWarm(t *testing.T) {
	t.Parallel()
	s := early(t)
	s.soon("1 hour")
	s.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %'")
}
