package work

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgtaskd/exec"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/run"
)

// Tests of rows, and of the table, that somebody locks for a while.

// calm checks that the loop does not spin: it commits little while nothing happens. An idle backend
// reports its commits within 10 s, so some may be older.
func (s *stage) calm() {
	s.t.Helper()
	commits := func() int {
		s.exec("SELECT pg_stat_clear_snapshot()")
		n, err := strconv.Atoi(s.get("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"))
		if err != nil {
			s.t.Fatal(err)
		}
		return n
	}
	n := 0
	for range 4 {
		before := commits()
		s.exec("SELECT pg_sleep(3)")
		if n = commits() - before; n <= 150 {
			return
		}
	}
	s.t.Errorf("%d transactions in 3 s while nothing happens", n)
}

// TestLockedRow: a row that somebody locks at a bad moment holds up its own task, and no other.
// FOR KEY SHARE is the lock of a foreign key's check, which keeps a row from being deleted.
func TestLockedRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input, when, how string
		end              string // "": the row is deleted
	}{
		"in PLAN":                {"SELECT 1", "waits", "FOR UPDATE", "DONE"},
		"at its deletion":        {"-- nothing", "waits", "FOR KEY SHARE", ""},
		"at its mark":            {"SELECT pg_sleep(0.5)", "starts", "FOR UPDATE", "DONE"},
		"at its end":             {"SELECT pg_sleep(0.4)", "runs", "FOR UPDATE", "DONE"},
		"at its end, and failed": {"SELECT pg_sleep(0.4); SELECT 1/0", "runs", "FOR UPDATE", "FAIL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			plan := time.Now()
			if c.when == "waits" {
				plan = plan.Add(300 * time.Millisecond)
			}
			odd := s.add("input, plan", c.input, plan)
			if c.when == "runs" {
				s.becomes(odd, "WORK")
			}
			release := s.lock(odd, c.how)
			switch c.when {
			case "waits":
				s.eventually("true", "SELECT plan < now() FROM task WHERE id = $1", odd)
			case "runs":
				s.quiet()
			}
			s.others()
			if name == "in PLAN" {
				s.calm()
			}
			release()
			s.becomes(odd, c.end)
		})
	}
}

func TestLockedAtStop(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(odd, "WORK")
	tx, err := s.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", odd)
	locked := make(chan func(), 1)
	other := s.connect()
	go func() { // gets the lock when the UPDATE commits
		tx, err := other.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "SELECT FROM task WHERE id = $1 FOR UPDATE", odd)
		}
		if err != nil {
			t.Error(err)
		}
		locked <- func() { _ = tx.Rollback(t.Context()) }
	}()
	s.until("lock waited for", func() bool { return s.get("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0" })
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	release := <-locked
	s.quiet()
	s.others()
	release()
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", odd)
}

// TestTableLocked: a run that ends meanwhile is neither forgotten nor repeated.
func TestTableLocked(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add("input", "SELECT pg_sleep(0.5); SELECT 1/0")
	s.becomes(odd, "WORK")
	tx, err := s.connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE task"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT pg_sleep(5)"); err != nil { // longer than the lock limit
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(odd, "FAIL")
	if row := s.row(odd, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// TestALockIsNoRefusal: however often a locked row does not take its end, the end loses nothing,
// and is written whole when the row is free.
func TestALockIsNoRefusal(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	id := s.add("input", "SELECT 1")
	task, err := l.leader.prefetch.Alone(t.Context())
	if err != nil || task == nil {
		t.Fatal(err)
	}
	release := s.lock(id, "FOR UPDATE")
	text := "text"
	l.ends.Seen(run.Outcome{Task: task, Kind: run.Finished, Result: &exec.Result{Output: &text}})
	tries := 0
	s.until("the end", func() bool {
		if err := l.ends.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if tries++; tries == 20 {
			release()
		}
		return !l.busy()
	})
	if tries < 20 || s.row(id, "state, output") != `{"state":"DONE","output":"text"}` {
		t.Error(tries, s.row(id, "state, output"))
	}
}

// TestReadersOfAnIncompleteTableAreNamed: a transaction that has only read the table keeps it from
// getting a column. The log and check name the session and how to end it. Then the table is served.
func TestReadersOfAnIncompleteTableAreNamed(t *testing.T) {
	t.Parallel()
	s := stageOn(t, tasktest.Database(t))
	s.exec("ALTER TABLE task DROP COLUMN owner")
	gid, reader := s.get("SELECT 'reader of ' || current_database()"), s.connect()
	servertest.Exec(t, reader, "BEGIN; SELECT FROM task; PREPARE TRANSACTION '"+gid+"'")
	servertest.Exec(t, reader, "BEGIN; SELECT FROM task")
	pid := servertest.Get(t, reader, "SELECT pg_backend_pid()")
	s.serve()
	faults := strings.Join(Check(t.Context(), s.target).Faults, "\n")
	for _, remedy := range []string{"ROLLBACK PREPARED '" + gid + "'", "SELECT pg_terminate_backend(" + pid + ")"} {
		s.until(remedy, func() bool { return strings.Contains(s.logged(), remedy) })
		if !strings.Contains(faults, remedy) {
			t.Errorf("check: %s", faults)
		}
	}
	servertest.Exec(t, reader, "ROLLBACK")
	servertest.Exec(t, reader, "ROLLBACK PREPARED '"+gid+"'")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
}
