package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// patience is how long a test waits for something that should come soon.
const patience = 20 * time.Second

// site is the Site of a controller that serves a database.
type site struct {
	*Site
	t *testing.T
}

// opened returns a site that listens.
func opened(t *testing.T) *site {
	t.Helper()
	s := &site{New(zerolog.Nop(), "v1"), t}
	t.Cleanup(s.Close)
	if err := s.Listen(conf.HTTP{Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// serves runs a controller with these targets until end is called, or the test ends.
func (s *site) serves(targets ...target.Target) (end func()) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(s.t.Context())
	go func() {
		ended <- conf.RunTargets(ctx, targets, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop, Watch: s})
	}()
	end = sync.OnceFunc(func() {
		close(stop)
		<-ended
	})
	s.t.Cleanup(end)
	return end
}

func single(t *testing.T, dsn string) target.Target {
	t.Helper()
	single, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	single.Grace = 0
	return single
}

// get asks for a page.
func (s *site) get(path string) (status int, text string) {
	s.t.Helper()
	response, err := http.Get(s.URL() + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// metrics returns the metrics of the site by name and labels.
func (s *site) metrics() map[string]float64 {
	s.t.Helper()
	status, text := s.get("/metrics")
	if status != http.StatusOK {
		s.t.Fatalf("%d: %s", status, text)
	}
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if at := strings.LastIndex(lines.Text(), " "); !strings.HasPrefix(lines.Text(), "#") {
			value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
			if err != nil {
				s.t.Fatal(err)
			}
			all[lines.Text()[:at]] = value
		}
	}
	return all
}

// show waits until the metrics are right.
func (s *site) show(what string, right func(map[string]float64) bool) {
	s.t.Helper()
	last := map[string]float64{}
	servertest.Wait(s.t, patience, what, func() bool {
		last = s.metrics()
		return right(last)
	}, func() string { _, text := s.get("/metrics"); return text })
}

// TestMetricsTellWhatTasksDo: each end counts under its state, with how long the task ran and
// waited.
func TestMetricsTellWhatTasksDo(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	servertest.Exec(t, conn, "ALTER TABLE task ADD COLUMN IF NOT EXISTS owner text")
	s, to := opened(t), single(t, dsn)
	s.serves(to)
	named := `target="` + to.Name() + `"`
	s.show("a leader", func(m map[string]float64) bool { return m["pgtaskd_leader{"+named+"}"] == 1 })

	servertest.Exec(t, conn, `INSERT INTO task (input) VALUES ('SELECT pg_sleep(0.2)'), ('SELECT 1'), ('CREATE TABLE made ()'), ('SELECT 1/0')`)
	servertest.Exec(t, conn, `INSERT INTO task (input, retry) VALUES ('SELECT 2/0', 1)`)
	servertest.Exec(t, conn, `INSERT INTO task (input, plan, repeat) VALUES ('SELECT 1', now() - interval '2 hours', '1 day')`)
	servertest.Exec(t, conn, `INSERT INTO task (input, plan) VALUES ('SELECT 1', now() + interval '1 day')`)
	servertest.Exec(t, conn, `INSERT INTO task (id, input) VALUES (1000, 'SELECT pg_sleep(60)')`)
	servertest.Wait(t, patience, "the long task", func() bool { return servertest.Get(t, conn, "SELECT state FROM task WHERE id = 1000") == "WORK" })
	s.show("a task that runs", func(m map[string]float64) bool {
		return m["pgtaskd_running{"+named+"}"] == 1 && m["pgtaskd_sessions{"+named+"}"] >= 1
	})
	servertest.Exec(t, conn, `UPDATE task SET state = 'STOP' WHERE id = 1000`)
	for state, n := range map[string]float64{"DONE": 3, "FAIL": 1, "GONE": 1, "STOP": 1, "PLAN": 1} {
		s.show(state, func(m map[string]float64) bool { return m["pgtaskd_tasks_total{"+named+`,state="`+state+`"}`] == n })
	}
	m := s.metrics()
	if n := m["pgtaskd_run_seconds_count{"+named+"}"]; n != 6 {
		t.Errorf("%v runs", n)
	}
	if sum := m["pgtaskd_run_seconds_sum{"+named+"}"]; sum < 0.2 || sum > 60 {
		t.Errorf("they took %v s", sum)
	}
	if sum := m["pgtaskd_wait_seconds_sum{"+named+"}"]; sum > 60 {
		t.Errorf("they waited %v s: the INSERT counts where it came after the plan", sum)
	}
	if n := m["pgtaskd_skipped_periods_total{"+named+`,reason="expired"}`]; n != 1 {
		t.Errorf("%v skipped periods", n)
	}
}

// TestMetricsTellOfTheTable: its size, its waiting tasks, and the last success of jobs with an
// owner.
func TestMetricsTellOfTheTable(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	servertest.Exec(t, conn, "ALTER TABLE task ADD COLUMN IF NOT EXISTS owner text")
	servertest.Exec(t, conn, `INSERT INTO task (id, parent, input, key, owner, repeat, state, start, stop) VALUES
		(1, NULL, '', 'nightly', 'git', '1 day', 'DONE', '2020-01-01', '2020-01-02 00:00:00Z'),
		(2, 1, '', 'nightly', 'git', '1 day', 'FAIL', '2020-01-03', '2020-01-03'),
		(4, NULL, '', 'other', NULL, '1 day', 'DONE', '2020-01-01', '2020-01-02')`)
	servertest.Exec(t, conn, `INSERT INTO task (id, input, key, owner, repeat, parent, plan) VALUES
		(3, '', 'nightly', 'git', '1 day', 1, now() + interval '1 day'), (5, '', 'other', NULL, '1 day', 4, now() + interval '1 day')`)
	servertest.Exec(t, conn, `INSERT INTO task (id, input, "group") SELECT 100 + i, 'SELECT pg_sleep(30)', 'one' FROM generate_series(1, 2) AS i`)
	s, to := opened(t), single(t, dsn)
	named := `target="` + to.Name() + `"`
	s.metrics() // a request: the leader surveys the table only for a reader
	s.serves(to)
	s.show("a look at the table", func(m map[string]float64) bool { return m["pgtaskd_table_bytes{"+named+"}"] > 0 })
	m := s.metrics()
	if at := m["pgtaskd_last_success_timestamp_seconds{"+named+`,key="nightly"}`]; at != 1577923200 {
		t.Errorf("the last success was at %v: %v", at, m)
	}
	for name := range m {
		if strings.Contains(name, `key="other"`) {
			t.Errorf("%s, of a job without an owner", name)
		}
	}
	if n := m["pgtaskd_waiting{"+named+"}"]; n != 2 {
		t.Errorf("%v tasks wait for later", n)
	}
	if m["pgtaskd_oldest_due_seconds{"+named+"}"] <= 0 {
		t.Error("no task is due")
	}
}

// TestTheLastSuccessStaysKnown: when the job fails again and again, when the rows of its good runs
// are deleted, when max_failures pauses it, and while it runs. The table knows it: the controller
// that leads now has seen no success.
func TestTheLastSuccessStaysKnown(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	to := single(t, dsn)
	end := opened(t).serves(to)
	servertest.Exec(t, conn, `INSERT INTO task (input, key, owner, repeat, plan, active, catchup, max_failures, overlap, max) VALUES
		('SELECT 1 / (current_setting(''pg_task.parent'') = '''')::int', 'fails', 'git', '1 hour', now() - interval '30.5 hours', '0', 100, 25, false, 9),
		('SELECT pg_sleep(100 * (current_setting(''pg_task.parent'') <> '''')::int)', 'runs', 'git', '1 hour', now() - interval '1.5 hours', '0', 100, 0, false, 9),
		('SELECT 1', 'overlaps', 'git', '1 hour', now(), '1 hour', 0, 0, true, 9)`)
	for want, query := range map[string]string{
		"25 STOP": "SELECT failures || ' ' || state FROM task WHERE wait_key = 'fails'",
		"WORK":    "SELECT state FROM task WHERE key = 'runs' ORDER BY id DESC LIMIT 1",
		"1":       "SELECT count(*) FROM task WHERE key = 'overlaps' AND state = 'DONE'",
	} {
		servertest.Wait(t, patience, want, func() bool { return servertest.Get(t, conn, query) == want }, func() string {
			return servertest.Get(t, conn, "SELECT string_agg(concat_ws(' ', key, state, failures, plan, error), E'\\n' ORDER BY id) FROM task")
		})
	}
	end() // the task that runs waits again
	servertest.Exec(t, conn, "DELETE FROM task WHERE state = 'DONE'; UPDATE task SET state = 'STOP' WHERE wait_key = 'overlaps'")
	servertest.Wait(t, patience, "nobody leads", func() bool {
		return servertest.Get(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'pg%task%'") == "0"
	})
	s, named := opened(t), `target="`+to.Name()+`",`
	s.serves(to)
	servertest.Wait(t, patience, "a run", func() bool {
		return servertest.Get(t, conn, "SELECT count(*) FROM task WHERE state = 'WORK' AND key = 'runs'") == "1"
	})
	s.metrics() // a request: the leader surveys the table only for a reader
	s.show("the jobs", func(m map[string]float64) bool {
		for _, key := range []string{"fails", "runs", "overlaps"} {
			if ago := float64(time.Now().Unix()) - m["pgtaskd_last_success_timestamp_seconds{"+named+`key="`+key+`"}`]; ago > 600 {
				return false
			}
		}
		return m["pgtaskd_jobs_paused{"+named+`reason="failures"}`] == 1 && m["pgtaskd_jobs_paused{"+named+`reason="stop"}`] == 1
	})
}
