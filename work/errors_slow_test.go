//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// codes are SQLSTATEs that tell something about the whole server, or about other sessions, when the
// server itself sends them.
var codes = []string{"53100", "53200", "53300", "57P01", "57P02", "57P03", "08006", "25006", "40001", "40P01", "42501", "55P03", "57014", "58030", "XX000"}

const raises = "DO $$BEGIN RAISE 'mine' USING ERRCODE = '%s'; END$$"

// insist makes tasks run before all others again and again, each in its own group.
func (s *stage) insist(columns string, tasks [][]any) {
	s.t.Helper()
	for i, values := range tasks {
		s.add(`priority, repeat, "group", `+columns, append([]any{2_000_000_000, "1 s", fmt.Sprint("first ", i)}, values...)...)
	}
}

// undisturbed checks that no other task waits long, however often the tasks of insist have failed,
// and that the target stays served.
func (s *stage) undisturbed(add func(i int) (id int64)) {
	s.t.Helper()
	var ids []int64
	for i := range 20 {
		ids = append(ids, add(i))
		s.becomes(ids[i], "DONE")
		if i%4 == 3 {
			s.until("more that fail", func() bool { return s.failed() >= 2*(i+1) })
		}
	}
	s.prompt(ids)
	if log := s.logged(); strings.Contains(log, "target failed") || strings.Contains(log, "disk is full") {
		s.t.Errorf("logged %s", log)
	}
}

func (s *stage) prompt(ids []int64) {
	s.t.Helper()
	const longest = "SELECT extract(epoch FROM max(start - plan)) FROM task WHERE id = ANY ($1)"
	if s.get("SELECT ("+longest+") > $2::float8", ids, servertest.Limit(3*time.Second).Seconds()) != "false" {
		s.t.Errorf("others have waited for %s s", s.get(longest, ids))
	}
}

func (s *stage) failed() (n int) {
	s.t.Helper()
	if _, err := fmt.Sscan(s.get("SELECT count(*) FROM task WHERE state = 'FAIL'"), &n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestErrorsOfOneTaskKeepNoOtherWaiting: other tasks start as usual, whichever error a remote sends
// or a task raises, even as the last message of its session.
func TestErrorsOfOneTaskKeepNoOtherWaiting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	var met, inputs []string
	for i, code := range codes {
		if servertest.Thorough || i%3 == 0 {
			met = append(met, code)
		}
	}
	for _, code := range met {
		raise := fmt.Sprintf(raises, code)
		inputs = append(inputs, raise, "SET exit_on_error TO on; "+raise)
	}
	inputs = append(inputs, "SELECT full()", "SET exit_on_error TO on; SELECT full()", "SELECT pg_terminate_backend(pg_backend_pid())")
	const full = "CREATE FUNCTION full() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $f$BEGIN COPY (SELECT 1) TO '/dev/full'; END$f$"
	ofOthers := func(s *stage) func(int) int64 {
		return func(i int) int64 { return s.add(`input, "group"`, "SELECT 1", fmt.Sprint("other ", i)) }
	}
	t.Run("of remotes", func(t *testing.T) {
		t.Parallel()
		s := play(t)
		var tasks [][]any
		for _, code := range met {
			for _, severity := range []string{"ERROR", "FATAL"} {
				for _, at := range []fake.Exchange{fake.Startup, fake.Input, fake.End} {
					wrong := fake.Failure("S", severity, "V", severity, "C", code, "M", "mine", "R", "elsewhere")
					server, err := fake.Start(func(e fake.Exchange, right []fake.Message) fake.Answer {
						if e != at {
							return fake.Right(right)
						}
						return fake.Answer{Bytes: wrong.Bytes(), Failed: true, Over: severity == "FATAL"}
					})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(server.Stop)
					tasks = append(tasks, []any{server.DSN(), "SELECT 1"})
				}
			}
		}
		s.insist("remote, input", tasks)
		s.undisturbed(ofOthers(s))
	})
	t.Run("of its own session", func(t *testing.T) {
		t.Parallel()
		s := play(t)
		s.exec(full)
		var tasks [][]any
		for _, input := range inputs {
			tasks = append(tasks, []any{input})
		}
		s.insist("input", tasks)
		s.undisturbed(ofOthers(s))
	})
	t.Run("of its own session, under its role", func(t *testing.T) {
		t.Parallel()
		c := employed(t)
		c.exec(full)
		for i, input := range inputs {
			c.asks(c.alice, input, "priority", "2000000000", "repeat", "'1 s'", `"group"`, fmt.Sprintf("'first %d'", i))
		}
		c.undisturbed(func(i int) int64 {
			return c.asks(c.serving, "SELECT 1", `"group"`, fmt.Sprintf("'other %d'", i))
		})
	})
}

// TestATaskThatFillsTheTableOfLocksKeepsNoOtherWaiting: it FAILs, which frees its locks.
func TestATaskThatFillsTheTableOfLocksKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	own := servertest.New(t, server.Options{Settings: map[string]string{"max_locks_per_transaction": "10", "max_prepared_transactions": "0"}})
	s := stageOn(t, own.DSN("postgres"))
	s.serve()
	s.settled()
	var tasks [][]any
	for range 8 {
		tasks = append(tasks, []any{"SELECT count(pg_advisory_xact_lock(i)) FROM generate_series(1, 100000) AS i"})
	}
	s.insist("input", tasks)
	var ids []int64
	for i := range 20 {
		var id int64
		s.until("an INSERT", func() bool { // it needs a lock, too
			return s.conn.QueryRow(t.Context(), `INSERT INTO task (input, "group") VALUES ('SELECT 1', $1) RETURNING id`, fmt.Sprint("other ", i)).Scan(&id) == nil
		})
		s.becomes(id, "DONE")
		if ids = append(ids, id); i%4 == 3 {
			s.until("more that fail", func() bool { return s.failed() >= 2*(i+1) })
		}
	}
	s.prompt(ids)
}
