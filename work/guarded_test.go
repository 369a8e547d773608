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

// TestMarkOfWhatMustNotRunTwiceOutlivesACrash: it is on the disk before the task starts, whatever
// synchronous_commit is, or has come to be while the target is served.
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
