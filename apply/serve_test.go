package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/apply"
	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/work"
)

// serve serves the table until the test ends.
func (s *stage) serve() {
	s.t.Helper()
	target, err := conf.Single(s.conn.Config().ConnString())
	if err != nil {
		s.t.Fatal(err)
	}
	target.Grace = 0
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- conf.RunTargets(context.WithoutCancel(s.t.Context()), []work.Target{target}, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop})
	}()
	s.t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
}

func (s *stage) eventually(want, sql string) {
	s.t.Helper()
	got := ""
	servertest.Wait(s.t, 20*time.Second, want, func() bool { got = s.get(sql); return got == want }, func() string { return got + "\n" + s.get("SELECT jsonb_agg(task ORDER BY id) FROM task WHERE id < 4") })
}

// TestWhatRunsHandsTheNewDefinitionOn: the run goes on as it began; the next one follows the file.
func TestWhatRunsHandsTheNewDefinitionOn(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE go (); ALTER TABLE task ADD note text")
	s.serve()
	const job = "- key: a\n  repeat: 10 ms\n  note: %s\n  input: DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'gone') LOOP PERFORM pg_sleep(0.01); END LOOP; END $$; SELECT '%s'\n"
	s.run(fmt.Sprintf(job, "one", "one"), apply.Options{})
	s.eventually("WORK", "SELECT state FROM task WHERE key = 'a'")
	s.equal("shown", s.run(fmt.Sprintf(job, "two", "two"), apply.Options{}), "~ a (it runs now: that run goes on as it began)\n    input: …OP; END $$; SELECT 'one' → …OP; END $$; SELECT 'two'\n    note: one → two")
	s.exec("CREATE TABLE gone ()")
	s.eventually("DO\none", "SELECT output FROM task WHERE state = 'DONE' ORDER BY id LIMIT 1")
	s.eventually("DO\ntwo", "SELECT output FROM task WHERE state = 'DONE' ORDER BY id OFFSET 1 LIMIT 1")
	if pruned := s.run("[]", apply.Options{Prune: true}); !strings.HasPrefix(pruned, "- a") {
		t.Errorf("pruned: %q", pruned)
	}
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
}

// TestApplyMeetsRunsThatEnd: a job that repeats all the time stays one job, however often it is
// applied.
func TestApplyMeetsRunsThatEnd(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE run (at timestamptz DEFAULT clock_timestamp(), "group" text)`)
	s.serve()
	for i := range 40 {
		out := s.run(fmt.Sprintf("- {key: a, repeat: 2 ms, group: g%d, input: 'INSERT INTO run DEFAULT VALUES'}\n- {key: b, repeat: 1 ms, priority: %d, input: SELECT 1}", i, i), apply.Options{})
		if i > 0 && (!strings.HasPrefix(out, "~ a") || !strings.Contains(out, "~ b")) {
			t.Fatalf("run %d: %s", i, out)
		}
		if open := s.get("SELECT concat_ws(' ', max(n), count(*)) FROM (SELECT count(*) AS n FROM task WHERE state IN ('PLAN', 'WORK') GROUP BY key) AS k"); open != "1 2" {
			t.Fatalf("run %d: open rows of a key, keys: %s\n%s", i, open, s.get("SELECT jsonb_agg(task) FROM task WHERE state IN ('PLAN', 'WORK')"))
		}
	}
	s.equal("failed", s.get("SELECT count(*) FROM task WHERE state NOT IN ('PLAN', 'WORK', 'DONE')"), "0")
}

// TestTwoApplyAtOnce: both succeed, and each job exists once.
func TestTwoApplyAtOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	other := dial(t, s.conn.Config().ConnString())
	var file strings.Builder
	for i := range 50 {
		fmt.Fprintf(&file, "- {key: %d, repeat: 1 h, input: SELECT 1}\n", i)
	}
	jobs, err := apply.Read([]string{s.write("both.yaml", file.String())}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := apply.Run(t.Context(), other, public, jobs, apply.Options{Owner: "git"})
		ended <- err
	}()
	_, err = apply.Run(t.Context(), s.own, public, jobs, apply.Options{Owner: "git"})
	if one := <-ended; err != nil || one != nil {
		t.Error(err, one)
	}
	s.equal("jobs", s.get("SELECT count(*) FROM task"), "50")
}

// TestAChangedExpressionIsPlanned: a waiting job gets the next beat of its new expression; a paused
// job stays paused.
func TestAChangedExpressionIsPlanned(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.serve()
	const file = "- {key: a, input: SELECT 1, cron: 'CRON_TZ=UTC 0 %[1]d 1 1 *'}\n- {key: b, input: SELECT 1, cron: 'CRON_TZ=UTC 0 %[1]d 1 1 *'}"
	s.run(fmt.Sprintf(file, 3), apply.Options{})
	const plans = "SELECT string_agg(concat(key, ' ', state, ' ', to_char(plan AT TIME ZONE 'UTC', 'DD HH24:MI')), ', ' ORDER BY key) FROM task"
	s.eventually("a PLAN 01 03:00, b PLAN 01 03:00", plans)
	s.exec("UPDATE task SET state = 'STOP' WHERE key = 'b'")
	s.run(fmt.Sprintf(file, 4), apply.Options{})
	s.eventually("a PLAN 01 04:00", plans+" WHERE key = 'a'")
	s.equal("paused", s.get("SELECT state FROM task WHERE key = 'b'"), "STOP")
	s.exec("UPDATE task SET state = 'PLAN' WHERE key = 'b'")
	s.eventually("a PLAN 01 04:00, b PLAN 01 04:00", plans)
	s.equal("again", s.run(fmt.Sprintf(file, 4), apply.Options{}), "")
}
