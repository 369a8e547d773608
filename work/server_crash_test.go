package work

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestStatisticsReset: a crash resets all statistics of the server. If somebody resets some of
// them, that does not count as a crash.
func TestStatisticsReset(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.serve()
	s.settled()
	s.drain()
	id := s.add("input, state, pid, start, atomic", "SELECT 1", "WORK", 1<<30, time.Now(), true)
	s.exec("SELECT pg_stat_reset_shared('bgwriter')")
	s.serve()
	s.becomes(id, "DONE")
	if cause := s.get("SELECT runs -> 0 ->> 'cause' FROM task WHERE id = $1", id); cause != "interrupted" {
		t.Error(cause)
	}
}

// TestServerRestarted: running tasks are cut off and run again.
func TestServerRestarted(t *testing.T) {
	own := servertest.New(t, server.Options{})
	s := on(t, own)
	id := s.add("input", "SELECT pg_sleep(1)")
	s.becomes(id, "WORK")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.conn = s.connect()
	s.becomes(id, "DONE", "FAIL")
	if row := s.row(id, "attempt, interrupted, jsonb_array_length(runs)"); row != `{"attempt":2,"interrupted":1,"jsonb_array_length":1}` {
		t.Error(row)
	}
}

// on serves a table on a server of the test's own.
func on(t *testing.T, own *server.Server) *stage {
	t.Helper()
	s := &stage{t: t, dsn: own.DSN("postgres")}
	s.target = targetOf(t, s.dsn)
	s.conn = s.connect()
	s.serve()
	s.settled()
	return s
}

// TestServerKilledByTask: a task that crashes the server is found out, even if it was read alone by
// a statement that leaves no mark.
func TestServerKilledByTask(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	t.Run("marked", func(t *testing.T) { testServerKilled(t, "COPY (SELECT 1) TO PROGRAM 'echo >> kills; kill -9 $PPID'") })
	t.Run("alone", func(t *testing.T) { testServerKilled(t, "SELECT kills()") })
}

func testServerKilled(t *testing.T, input string) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"restart_after_crash": "on", "wal_writer_delay": "10s"}})
	s := on(t, own)
	defer func() { s.t.Log(s.logged()) }()
	s.exec(`CREATE FUNCTION kills() RETURNS void LANGUAGE plpgsql AS $$BEGIN COPY (SELECT 1) TO PROGRAM 'echo >> kills; kill -9 $PPID'; END$$`)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // leaves a session ready
	s.exec("DELETE FROM task")
	s.asleep()
	// The server may be down before it answers.
	_, _ = s.conn.Exec(t.Context(), "INSERT INTO task (input) VALUES ($1)", input)
	var row string
	servertest.Wait(t, time.Minute, "FAIL", func() bool {
		conn, err := connectTo(t.Context(), s.dsn)
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close(t.Context()) }()
		_ = conn.QueryRow(t.Context(), "SELECT state || ' ' || interrupted FROM task").Scan(&row)
		if strings.HasPrefix(row, "WORK 9") {
			t.Fatal("it goes on: ", row)
		}
		return strings.HasPrefix(row, "FAIL")
	})
	if row != "FAIL 5" {
		t.Error(row)
	}
	conn, err := connectTo(t.Context(), s.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var kills int
	if err := conn.QueryRow(t.Context(), "SELECT length(pg_read_file('kills'))").Scan(&kills); err != nil || kills != 5 {
		t.Error(kills, err)
	}
}

// TestMarkOfWhatMustNotRunTwiceOutlivesACrash: the mark is on the disk before the task starts,
// whatever synchronous_commit is, or becomes while the target is served.
func TestMarkOfWhatMustNotRunTwiceOutlivesACrash(t *testing.T) {
	for name, reloaded := range map[string]bool{"from the start": false, "by a reload": true} {
		t.Run(name, func(t *testing.T) { markOutlivesACrash(t, reloaded) })
	}
}

func markOutlivesACrash(t *testing.T, reloaded bool) {
	settings := map[string]string{
		"synchronous_commit": "off", "wal_writer_delay": "10s", "autovacuum": "off", "bgwriter_delay": "10s", "checkpoint_timeout": "1h",
	}
	if reloaded {
		delete(settings, "synchronous_commit")
	}
	own := servertest.New(t, server.Options{Settings: settings})
	s := on(t, own)
	runs := filepath.Join(t.TempDir(), "runs")
	if err := os.WriteFile(runs, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Dir(runs), filepath.Dir(filepath.Dir(runs))} {
		if err := os.Chmod(folder, 0o777); err != nil { // the server runs as another user
			t.Fatal(err)
		}
	}
	if err := os.Chmod(runs, 0o666); err != nil {
		t.Fatal(err)
	}
	if reloaded {
		s.exec("ALTER SYSTEM SET synchronous_commit = off")
		s.exec("SELECT pg_reload_conf()")
		s.eventually("true", "SELECT current_setting('synchronous_commit') = 'off'")
		s.doneOrFailed("SELECT 1")
	}
	s.exec("SET synchronous_commit = on")
	id := s.add("input, rerun", "COPY (SELECT 'run') TO PROGRAM 'cat >> "+runs+"; sleep 60'", false)
	count := func() int {
		text, err := os.ReadFile(runs)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "run")
	}
	s.until("the program to run", func() bool { return count() == 1 })
	if err := own.Crash(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.conn = s.connect()
	s.eventually("true", "SELECT stop IS NOT NULL OR attempt > 1 FROM task WHERE id = $1", id)
	if got := s.state(id); got != "FAIL" || count() != 1 {
		t.Errorf("%s after %d runs", got, count())
	}
}

// TestASuspectStartsAlone: no other task starts beside a task during whose runs the server seems to
// have crashed twice.
func TestASuspectStartsAlone(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SELECT pg_advisory_lock(7)")
	suspect := s.add("input, plan", "SELECT pg_advisory_xact_lock_shared(7)", "infinity")
	s.exec("SET session_replication_role = replica")
	s.exec(`UPDATE task SET plan = now(), interrupted = 2, runs = '[{"cause": "crash"}, {"cause": "crash"}]' WHERE id = $1`, suspect)
	s.exec("RESET session_replication_role")
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'WORK'")
	other := s.add(`input, "group"`, "SELECT 1", "other")
	s.exec("SELECT pg_advisory_unlock(7)")
	s.becomes(suspect, "DONE")
	s.becomes(other, "DONE")
	if s.get("SELECT a.stop <= b.start FROM task AS a, task AS b WHERE a.id = $1 AND b.id = $2", suspect, other) != "true" {
		t.Error("another started beside it")
	}
}
