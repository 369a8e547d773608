package work

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/lane"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// TestControlTerminated: running tasks go on, and the next term writes their ends.
func TestControlTerminated(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(1.5)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	s.anyLeader()
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// anyLeader adds a task and waits for it; any controller may lead.
func (s *stage) anyLeader() {
	s.t.Helper()
	s.becomes(s.add(`input, "group"`, "SELECT 'other'", "others"), "DONE")
}

// noon is a time for tests in which the time does not matter.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestARunThatEndsWhileTheLeadIsLostIsNotRunAgain: the outcome is in the inbox when the control
// connection is lost.
func TestARunThatEndsWhileTheLeadIsLostIsNotRunAgain(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), newService(Target{Live: target.Live{Run: 1}}, zerologNone))
	l.runs.Lanes.Add([]byte("a"), nil, lane.Rank{ID: 1})
	ids := l.runs.Lanes.Choose(1)
	one := &run.Task{Row: run.Row{ID: ids[0], Group: "a"}}
	one.Ticket = one.Row.Ticket(lane.KeyOf("a", ""))
	one.Read = time.Now()
	l.tasks.Know([]*run.Task{one})
	l.runs.Lanes.Prefetched([]*run.Task{one})
	if l.runs.Lanes.Start(false, func(*run.Task) bool { return true }) != one || !l.busy() {
		t.Fatal("it does not run")
	}
	l.inbox.Outcome(run.Outcome{Task: one, Kind: run.Finished, Start: noon, Stop: noon})
	if !l.busy() {
		t.Error("the end is in the inbox, and the loop would end without writing it")
	}
}

// TestOrphans: a new leader leaves a task alone if an old leader's session still runs it, and
// returns tasks that nobody runs.
func TestOrphans(t *testing.T) {
	t.Parallel()
	s := play(t)
	gone := s.add(`input, "group", plan`, "SELECT 'gone'", "gone", "infinity")
	s.drain()
	old := s.connect()
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("UPDATE task SET state = 'WORK', pid = 1, start = now(), plan = now(), attempt = 1, atomic = true WHERE id = $1", gone)
	s.exec("RESET session_replication_role; RESET application_name")
	alive := s.add(`input, remote, "group", state, attempt, pid, start, atomic`, "SELECT 'alive'", "", "alive", "WORK", 1, int32(old.PgConn().PID()), time.Now().Add(time.Minute), true)
	never := s.add(`input, rerun, state, attempt, pid, start, atomic, "group"`, "SELECT 'never'", false, "WORK", 1, 1, time.Now(), false, "never")
	taken := s.add(`input, state, attempt, pid, "group"`, "SELECT 'taken'", "TAKE", 1, 1, "taken")
	behind := s.add(`input, "group"`, "SELECT 'behind'", "alive")
	s.serve()
	s.becomes(gone, "DONE")
	s.becomes(never, "FAIL")
	s.becomes(taken, "DONE")
	if state := s.state(alive) + " " + s.state(behind); state != "WORK PLAN" {
		t.Error("a living session's task and the next of its lane: ", state)
	}
	_ = old.Close(t.Context())
	s.becomes(alive, "DONE")
	s.becomes(behind, "DONE")
}

// TestALeaderThatWasFrozenOpensNoSession: it does not know yet that another controller leads, and
// has tasks in memory.
func TestALeaderThatWasFrozenOpensNoSession(t *testing.T) {
	t.Parallel()
	s := leading(t)
	s.done(s.add("input", "SELECT 1"))
	for owner, want := range map[int32]bool{s.loop.control.Facts().PID: true, 1 << 22: false} {
		session, err := s.loop.runs.Pool.Connect(t.Context(), pool.Need{Reader: owner})
		if err == nil {
			session.Close()
		}
		if (err == nil) != want || err != nil && pool.Final(err) {
			t.Error(owner, err)
		}
	}
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %' AND state = 'active'")
}

// TestPidsOfAnotherDatabaseAreNotTakenForRuns: a restored copy has pids in its rows, and pids
// belong to the whole server.
func TestPidsOfAnotherDatabaseAreNotTakenForRuns(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.serve()
	s.settled()
	s.drain()
	elsewhere, err := connectTo(t.Context(), strings.Replace(s.dsn, "dbname="+s.get("SELECT current_database()"), "dbname=postgres", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = elsewhere.Close(context.WithoutCancel(t.Context())) }()
	pid := int32(elsewhere.PgConn().PID())
	if s.get("SELECT datname = current_database() FROM pg_stat_activity WHERE pid = $1", pid) != "false" {
		t.Fatal("it is in the same database")
	}
	works := s.add(`input, "group", state, attempt, pid, start, atomic`, "SELECT 'again'", "works", "WORK", 1, pid, time.Now().Add(time.Minute), true)
	stops := s.add(`input, "group", state, attempt, pid, start, stopping`, "SELECT 'never'", "stops", "STOP", 1, pid, time.Now().Add(time.Minute), true)
	s.serve()
	s.becomes(works, "DONE")
	s.eventually("true", "SELECT stop IS NOT NULL AND stopping IS NULL FROM task WHERE id = $1", stops)
}

// TestAControllerThatLostTheLeadKeepsNoSession: when the tasks that still run there have ended.
func TestAControllerThatLostTheLeadKeepsNoSession(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	giveBack()
	s.becomes(id, "DONE")
}

// TestADrainWithoutTheLeadDoesNotWait: the leader deals with ends that the drain could not write.
func TestADrainWithoutTheLeadDoesNotWait(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	began := time.Now()
	s.drain()
	if took := time.Since(began); took > servertest.Limit(10*time.Second) || s.err != nil {
		t.Errorf("it took %s: %v", took, s.err)
	}
	giveBack()
}

// TestATaskThatWaitsForItsMarkRunsWhenTheLeadIsRegained: it does not wait for the mark while the
// lead is lost.
func TestATaskThatWaitsForItsMarkRunsWhenTheLeadIsRegained(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, plan", "BEGIN; COMMIT; SELECT 1", s.get("SELECT now() + interval '1 s'"))
	release := s.lock(id, "FOR UPDATE")
	s.eventually("1", "SELECT count(*) "+sessions)
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	release()
	giveBack()
	s.becomes(id, "DONE")
}

// usurp takes the lead away, and returns a function that gives it back.
func (s *stage) usurp() (giveBack func()) {
	s.t.Helper()
	lock := "pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid::int8 & 16777215 = 0 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	key := s.get("SELECT " + numbers + " FROM " + lock)
	other, locked := s.connect(), make(chan error, 1)
	go func() {
		_, err := other.Exec(context.WithoutCancel(s.t.Context()), "SELECT pg_advisory_lock("+key+")")
		locked <- err
	}()
	s.eventually("1", "SELECT count(*) FROM "+lock+" AND NOT granted")
	s.exec("SELECT pg_terminate_backend(pid) FROM " + lock + " AND granted")
	if err := <-locked; err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if _, err := other.Exec(s.t.Context(), "SELECT pg_advisory_unlock("+key+")"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestAPreparationAfterAHandoverIsWritten: tasks that run when the lead is given away end normally.
func TestAPreparationAfterAHandoverIsWritten(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), newService(Target{Live: target.Live{Run: 1}}, zerologNone))
	l.leads.Handed = true
	l.ledger.Put(&ledger.Entry{Kind: ledger.Prepare, Tell: func(a ledger.Answer) { t.Error("it was answered", a) }})
	if err := l.answer(t.Context()); err != nil || l.ledger.Len() != 1 {
		t.Error(l.ledger.Len(), err)
	}
}

// TestARunThatOutlastsAHandoverEndsOnce: the old controller writes its end while another one leads.
func TestARunThatOutlastsAHandoverEndsOnce(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Minute }) // after that it would be cancelled, and run again
	s.exec("CREATE TABLE gate (); CREATE SEQUENCE tries; CREATE TABLE effect (id int8)")
	gate := s.connect()
	must(t, gate, "BEGIN; LOCK TABLE gate")
	id := s.add("input", dated+"INSERT INTO effect VALUES (nextval('tries')); SELECT FROM gate")
	s.becomes(id, "WORK")
	close(s.stop)
	next := stageOn(t, s.dsn, func(t *Target) { *t = s.target })
	next.serve()
	next.becomes(next.add(`input, "group"`, "SELECT 1", "other"), "DONE") // it leads
	next.exec("SELECT pg_sleep(1)")
	must(t, gate, "COMMIT")
	<-s.ended
	next.becomes(id, "DONE")
	if got := next.get("SELECT string_agg(id::text, ' ') FROM effect"); got != "1" {
		t.Error("effects ", got, " ", next.row(id, "attempt, interrupted, runs"))
	}
}
