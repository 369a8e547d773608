package work

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/server/servertest"
	"pgtaskd/sql/schema"
)

// why is the answer of task_why for a task.
func (s *stage) why(id int64) string {
	s.t.Helper()
	return s.get("SELECT task_why($1)", id)
}

// saysWhy waits until the answer of task_why matches.
func (s *stage) saysWhy(id int64, pattern string) {
	s.t.Helper()
	said := ""
	s.until("task_why to say "+pattern, func() bool {
		said = s.why(id)
		return regexp.MustCompile("^" + pattern + "$").MatchString(said)
	}, func() string { return said })
	if strings.Contains(said, "\n") {
		s.t.Errorf("more than a line: %q", said)
	}
}

const (
	moments   = `\d+-\d\d-\d\d \d\d:\d\d:\d\d\S*`
	intervals = `(\d+ days? )?\d\d:\d\d:\d\d`
)

// reasons are cases of task_why: how to bring them about, and the answer.
var reasons = []struct {
	name string
	has  func(s *stage) (id int64)
	says string
}{
	{"no such task", func(*stage) int64 { return 17 }, "there is no task 17"},
	{"ended well", func(s *stage) int64 { return s.doneOrFailed("SELECT 1") }, "DONE at " + moments + "; .*"},
	{"failed", func(s *stage) int64 { return s.doneOrFailed("SELECT 1/0") }, "FAIL at " + moments + ": ERROR:  division by zero; .*"},
	{"gone", func(s *stage) int64 { return s.add("input, plan", "SELECT 1", time.Now().Add(-2*time.Hour)) }, "GONE at " + moments + ": ERROR:  task not active; DETAIL:  not started within active \\(1 hour\\) of its plan; .*"},
	{"stopped", func(s *stage) int64 {
		id := s.running("SELECT pg_sleep(60)")
		s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
		return id
	}, "STOP at " + moments + ".*; set its state to PLAN to run it again"},
	{"paused", func(s *stage) int64 {
		id := s.add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
		s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
		return id
	}, "is paused; set its state to PLAN to let it run"},
	{"runs", func(s *stage) int64 { return s.running("SELECT pg_sleep(60)") }, `runs since ` + moments + ` in backend \d+`},
	{"prepared on a remote that is away", func(s *stage) int64 {
		id := s.add("input, remote", "SELECT 1", "host=/nowhere")
		s.exec("UPDATE task SET state = 'WORK', pid = 1, start = now(), xact = 7, xact_at = '1/2/00000001' WHERE id = $1", id)
		return id
	}, "runs since " + moments + " in backend 1, and its remote must say how it ended"},
	{"runs and waits for a lock", func(s *stage) int64 {
		must(s.t, s.connect(), "SELECT pg_advisory_lock(42)")
		return s.running("SELECT pg_advisory_lock(42)")
	}, `runs since .* in backend \d+, which waits for a lock of pid \d+`},
	{"runs and its row is locked", func(s *stage) int64 {
		id := s.running("SELECT pg_sleep(60)")
		must(s.t, s.connect(), fmt.Sprintf("BEGIN; SELECT FROM task WHERE id = %d FOR UPDATE", id))
		return id
	}, `runs since .* in backend \d+; its end waits for pid \d+ of role postgres, which has locked the row`},
	{"infinity", func(s *stage) int64 { return s.add("input, plan", "SELECT 1", "infinity") }, "waits until somebody sets its plan, which is infinity"},
	{"its plan", func(s *stage) int64 { return s.add("input, plan", "SELECT 1", time.Now().Add(25*time.Hour)) }, "waits for its plan, " + moments + ", in 1 day 0\\d:\\d\\d:\\d\\d"},
	{
		"its next try", func(s *stage) int64 { return s.add("input, retry", "SELECT 1/0", 3) },
		"waits for its next try, at " + moments + ", in " + intervals + ": 1 of 4 tries failed, the last one with ERROR:  division by zero",
	},
	{
		"its next try, of as many as there may be", func(s *stage) int64 { return s.add("input, retry", "SELECT 1/0", math.MaxInt32) },
		"waits for its next try, at " + moments + ", in " + intervals + ": 1 of 2147483648 tries failed, the last one with ERROR:  division by zero",
	},
	{"a full lane", func(s *stage) int64 {
		s.running("SELECT pg_sleep(60)")
		return s.add("input", "SELECT 1")
	}, `waits for its lane, group "group", in which 1 run \(task 1\): it starts when none runs`},
	{"a lane full of many", func(s *stage) int64 {
		for range 7 {
			s.runningIn("it's", "SELECT pg_sleep(60)", 6)
		}
		return s.add(`input, "group", max`, "SELECT 1", "it's", 6)
	}, `waits for its lane, group "it's", in which 7 run \(task 1, 2, 3, 4, 5\): it starts when fewer than 7 run`},
	{"a pause", func(s *stage) int64 {
		// A leader that has just begun would wait for the end of an earlier pause.
		s.asleep()
		s.exec("INSERT INTO task (max, drift, delete, input) VALUES (-60000, true, false, 'SELECT 1')")
		s.becomes(1, "DONE")
		return s.add("input, max, drift", "SELECT 1", -60000, true)
	}, "waits for the pause of its lane: it starts 60000 ms after the end of the task before it"},
	{"run", func(s *stage) int64 {
		for i := range 8 {
			s.runningIn(fmt.Sprint(i), "SELECT pg_sleep(60)", 0)
		}
		return s.add("input", "SELECT 1")
	}, "waits for run, which is 8: 8 tasks run"},
	{"a lock on its row", func(s *stage) int64 {
		id := s.add("input, plan", "SELECT 1", "infinity")
		holder := s.connect()
		must(s.t, holder, fmt.Sprintf("BEGIN; UPDATE task SET plan = now() WHERE id = %d", id))
		s.exec("SET session_replication_role = replica")
		must(s.t, s.connect(), "SELECT 1")
		id = s.add("input, plan", "SELECT 1", time.Now().Add(time.Second))
		must(s.t, s.connect(), fmt.Sprintf("BEGIN; SELECT FROM task WHERE id = %d FOR UPDATE", id))
		return id
	}, `waits for pid \d+ of role postgres, which has locked the row.*`},
	{"a lock on the table", func(s *stage) int64 {
		id := s.add("input, plan", "SELECT 1", time.Now().Add(time.Second))
		must(s.t, s.connect(), "BEGIN; LOCK TABLE task IN SHARE MODE")
		return id
	}, `waits for pid \d+ of role postgres, which has locked the table.*`},
	{"a lock against readers", func(s *stage) int64 {
		id := s.add("input, plan", "SELECT 1", "infinity")
		must(s.t, s.connect(), "BEGIN; LOCK TABLE task")
		return id
	}, `waits for pid \d+ of role postgres, which has locked the table`},
	{
		"a session", func(s *stage) int64 {
			return s.add("input, remote", "SELECT 1", "host=127.0.0.1 port=1 user=u password=p")
		},
		"waits for a session, which could not be had: ERROR:  could not establish connection; DETAIL:  .*refused.*; the next try is at " + moments + ", in " + intervals,
	},
	{"nobody", func(s *stage) int64 {
		s.drain()
		return s.add("input", "SELECT 1")
	}, `no controller leads the table: start pgtaskd, or look at its log`},
	{"nobody, and later", func(s *stage) int64 {
		s.drain()
		return s.add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
	}, `waits for its plan, ` + moments + `, in .*; no controller leads the table: .*`},
	{"nobody, and no table of controllers", func(s *stage) int64 {
		s.drain()
		s.exec("DROP TABLE task_leader")
		return s.add("input", "SELECT 1")
	}, `no controller leads the table: start pgtaskd, or look at its log`},
	{"cron that nobody has planned yet", func(s *stage) int64 {
		s.drain()
		return s.add("input, cron", "SELECT 1", "0 3 * * *")
	}, `waits for the leader to plan it by its cron; no controller leads the table: .*`},
	{"cron", func(s *stage) int64 { return s.add("input, cron", "SELECT 1", "@yearly") }, "waits for its plan, .*"},
	{"tasks in after", func(s *stage) int64 {
		first := s.add("input, plan", "SELECT 1", "infinity")
		paused := s.add("input, state", "SELECT 1", "STOP")
		return s.add("input, after", "SELECT 1", []int64{first, paused, s.doneOrFailed("SELECT 1")})
	}, `waits for 2 tasks in after: 1 \(PLAN\), 2 \(STOP\)`},
	{"many tasks in after, and nobody", func(s *stage) int64 {
		s.drain()
		s.exec("INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 7)")
		return s.add("input, after, plan", "SELECT 1", []int64{1, 2, 3, 4, 5, 6, 7}, time.Now().Add(time.Hour))
	}, `waits for 7 tasks in after: 1 \(PLAN\), 2 \(PLAN\), 3 \(PLAN\), 4 \(PLAN\), 5 \(PLAN\); waits for its plan, .*; no controller leads .*`},
	{"not active any more", func(s *stage) int64 {
		id := s.add("input, plan, active", "SELECT 1", time.Now().Add(-time.Hour), "1 min")
		return id
	}, "GONE at .*"},
}

func (s *stage) doneOrFailed(input string) int64 {
	s.t.Helper()
	id := s.add("input, delete", input, false)
	s.becomes(id, "DONE", "FAIL")
	return id
}

func (s *stage) running(input string) int64 { return s.runningIn("group", input, 0) }

func (s *stage) runningIn(group, input string, most int) int64 {
	s.t.Helper()
	id := s.add(`input, "group", max`, input, group, most)
	s.becomes(id, "WORK")
	return id
}

// TestWhyATaskWaits: each reason, while the table is served.
func TestWhyATaskWaits(t *testing.T) {
	t.Parallel()
	for i, c := range reasons {
		if !servertest.Thorough && i%3 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.saysWhy(c.has(s), c.says)
		})
	}
}

// TestWhyIsForWhoeverMayRead: it needs only the caller's right to read the table, and none to the
// table of controllers.
func TestWhyIsForWhoeverMayRead(t *testing.T) {
	t.Parallel()
	s := play(t)
	role := s.role()
	conn := s.connectAs(role)
	if said := s.get("SELECT task_why(NULL)"); !strings.HasPrefix(said, "there is no task NULL") {
		t.Error(said)
	}
	id := s.add("input, plan", "SELECT 1", "infinity")
	if _, err := conn.Exec(t.Context(), "SELECT task_why($1)", id); !fault.Has(err, "42501") {
		t.Error(err)
	}
	s.exec("GRANT SELECT ON task TO " + role + "; REVOKE SELECT (leads, since, seen, run, timezone) ON task_leader FROM PUBLIC")
	must(t, conn, "CREATE TEMP TABLE task (id int8)")
	var said string
	if err := conn.QueryRow(t.Context(), "SELECT public.task_why($1)", id).Scan(&said); err != nil || said != "waits until somebody sets its plan, which is infinity" {
		t.Error(said, err)
	}
}

// TestWhyIsQuick: it visits few of many rows, whatever the statistics say.
func TestWhyIsQuick(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	if _, err := schema.Install(t.Context(), s.conn, s.target.Relation(), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	s.exec("ALTER TABLE task SET (autovacuum_enabled = false); SET synchronous_commit = off")
	waiting := int64(30_000)
	if servertest.Thorough {
		waiting = 300_000
	}
	s.exec("INSERT INTO task (input, plan, active) SELECT 'SELECT 1', now() - interval '1 min' + i * interval '1 us', '0' FROM generate_series(1, $1) AS i", waiting)
	s.exec("INSERT INTO task_leader (controller, leads, since, seen, run) VALUES ('c', true, now(), now(), 8)")
	must(t, s.connect(), "SELECT pg_advisory_lock("+s.leaderKey()+")")
	s.exec("SET application_name = 'pgtaskd test'; UPDATE task SET state = 'WORK', start = now(), pid = 1 WHERE id = 1; RESET application_name")
	for _, id := range []int64{1, 2, waiting / 2, waiting, waiting + 1} {
		_ = s.why(id) // plans
		best := time.Hour
		for range 5 {
			began := time.Now()
			_ = s.why(id)
			best = min(best, time.Since(began))
		}
		t.Log(id, best, s.why(id))
		if best > 100*time.Millisecond {
			t.Errorf("task %d: %s", id, best)
		}
	}
}

// TestAStoppedRunHoldsItsPlaceUntilItsEnd: task_why tells that to the tasks that wait for it.
func TestAStoppedRunHoldsItsPlaceUntilItsEnd(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.installed()
	holder := s.connect()
	must(t, holder, "INSERT INTO task (input, state, stopping, pid, start) VALUES ('SELECT 1', 'STOP', true, pg_backend_pid(), clock_timestamp())")
	s.serve()
	s.settled()
	waits := s.add("input", "SELECT 1")
	s.saysWhy(waits, `waits for its lane, group "group", in which 1 run \(task 1\): it starts when none runs`)
	s.saysWhy(1, "was set to STOP, and runs since .* in backend .*")
	if err := holder.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(waits, "DONE")
}
