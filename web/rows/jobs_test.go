package rows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
)

// written executes statements without the table's triggers, so that rows can be in any state.
func written(t *testing.T, tasks tasktest.Table, statements ...string) {
	t.Helper()
	servertest.Exec(t, tasks.Conn, "SET session_replication_role = replica")
	for _, one := range statements {
		servertest.Exec(t, tasks.Conn, one)
	}
	servertest.Exec(t, tasks.Conn, "RESET session_replication_role")
}

func jobsOf(t *testing.T, s *Sessions, to work.Target, h Hidden) (jobs []Job, all bool) {
	t.Helper()
	err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) (err error) {
		jobs, all, _, err = b.Jobs(ctx, h)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return jobs, all
}

// shown writes a value that may be NULL.
func shown[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// TestJobsComeByTrouble: failing, late, paused, then by the next run, and ended ones last.
func TestJobsComeByTrouble(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks,
		`INSERT INTO task (id, key, input, cron, repeat, plan, state, failures, max_failures, error, next, parent, start, stop, "group") VALUES
		(1, 'done', '', NULL, '0', now() - interval '2 h', 'DONE', 0, 0, NULL, NULL, NULL, now() - interval '2 h', now() - interval '1 h', 'g'),
		(2, NULL, '', '0 3 * * 1-5', '0', now() - interval '1 d', 'FAIL', 1, 0, E'ERROR:  no\nSTATEMENT:  SELECT 1', 3, NULL, now() - interval '1 d', now() - interval '23 h', 'g'),
		(3, NULL, '', '0 3 * * 1-5', '0', now() + interval '1 d', 'PLAN', 2, 0, NULL, NULL, 2, NULL, NULL, 'g'),
		(4, 'late', '', NULL, '0', now() - interval '1 h', 'PLAN', 0, 0, NULL, NULL, NULL, NULL, NULL, 'g'),
		(5, NULL, '', NULL, '5 min', now() + interval '1 h', 'STOP', 0, 0, NULL, NULL, NULL, NULL, NULL, 'g'),
		(6, NULL, '', NULL, '1 h', now() + interval '1 d', 'FAIL', 2, 3, 'ERROR:  third', 7, NULL, now(), now(), 'g'),
		(7, NULL, '', NULL, '1 h', now() + interval '2 d', 'STOP', 3, 3, E'ERROR:  paused after 3 failures in a row\nHINT:  x', NULL, 6, NULL, NULL, 'g'),
		(8, NULL, '', 'CRON_TZ=Asia/Tokyo @daily', '0', now() + interval '3 h', 'PLAN', 0, 0, NULL, NULL, NULL, NULL, NULL, 'pay-1'),
		(9, 'soon', '', NULL, '0', now() + interval '1 h', 'PLAN', 0, 0, NULL, NULL, NULL, NULL, NULL, 'g'),
		(10, NULL, '', NULL, '1 d', now() + interval '2 h', 'PLAN', 0, 0, NULL, NULL, NULL, NULL, NULL, 'g'),
		(11, NULL, '', '@hourly', '0', now() - interval '2 h', 'FAIL', 0, 0, 'ERROR:  its series has ended', NULL, NULL, now(), now(), 'g'),
		(12, NULL, '', NULL, '0', now() - interval '2 h', 'FAIL', 0, 0, 'ERROR:  single', NULL, NULL, now(), now(), 'g'),
		(13, NULL, '', '@hourly', '0', now() - interval '2 h', 'WORK', 0, 0, NULL, NULL, NULL, now(), NULL, 'g')`,
		`INSERT INTO task_group ("group", paused, changed_by) VALUES ('pay-%', true, 'ann')`,
		`INSERT INTO task_act (by, "do", task) VALUES ('bob', 'resume', 5), ('eve', 'pause', 5), ('bob', 'cancel', NULL), ('bob', 'pause', 6)`)
	jobs, all := jobsOf(t, s, to, Hidden{})
	var lines []string
	for _, j := range jobs {
		lines = append(lines, fmt.Sprint(j.ID, " ", shown(j.Key), " ", j.State, " ", shown(j.Words), "; ", shown(j.LastState), " ", j.Failures, " ", shown(j.Error), "; ",
			j.Paused, " ", shown(j.PausedBy), "; ", j.Late != nil, " ", len(j.Runs)))
	}
	want := []string{
		"11 - FAIL every hour; FAIL 1 ERROR:  its series has ended; false -; false 1",
		"3 - PLAN at 03:00 on weekdays; FAIL 2 ERROR:  no; false -; false 1",
		"7 - STOP every hour; FAIL 3 ERROR:  third; true paused after 3 failures in a row; false 1",
		"4 late PLAN -; - 0 -; false -; true 0",
		"8 - PLAN at 00:00 every day; - 0 -; true group pay-% by ann; false 0",
		"5 - STOP every 5 minutes; - 0 -; true eve; false 0",
		"13 - WORK every hour; WORK 0 -; false -; false 1",
		"9 soon PLAN -; - 0 -; false -; false 0",
		"10 - PLAN every day; - 0 -; false -; false 0",
		"1 done DONE -; DONE 0 -; false -; false 1",
	}
	slices.Sort(lines[:3]) // these have next runs in no order that matters
	slices.Sort(want[:3])
	if !all || !slices.Equal(lines, want) {
		t.Errorf("%v\n%s", all, strings.Join(lines, "\n"))
	}
	for _, j := range jobs {
		if j.ID == 8 && *j.Zone != "Asia/Tokyo" {
			t.Error(*j.Zone)
		}
	}
}

// TestJobsKnowTheirLastRuns: by the chain, by the key, and by the tries of the row itself.
func TestJobsKnowTheirLastRuns(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks,
		`INSERT INTO task (id, input, cron, plan, state, parent, next, start, stop)
		SELECT i, '', '* * * * *', now(), CASE WHEN i = 100 THEN 'PLAN' ELSE 'DONE' END::state, i - 1, i + 1,
			CASE WHEN i < 100 THEN now() - interval '1 min' * (100 - i) END, CASE WHEN i < 100 THEN now() - interval '1 min' * (100 - i) + interval '1 s' * i END
		FROM generate_series(1, 100) AS i`,
		`UPDATE task SET next = NULL WHERE id = 100`,
		`INSERT INTO task (id, input, key, state, start, stop) SELECT i, '', 'k', CASE WHEN i % 50 = 0 THEN 'DONE' ELSE 'FAIL' END::state, now(), now() FROM generate_series(1001, 1103) AS i`,
		`INSERT INTO task (id, input, key, state, attempt, error, runs) VALUES (2001, '', 'r', 'PLAN', 2, 'ERROR:  again',
			'[{"start": "2030-01-01T00:00:00+00:00", "stop": "2030-01-01T00:00:02+00:00", "state": "FAIL"}, {"start": "2030-01-02T00:00:00+00:00", "stop": "2030-01-02T00:00:05+00:00", "state": "FAIL"}]')`)
	jobs, _ := jobsOf(t, s, to, Hidden{})
	byID := map[int64]Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	chain, key, retried := byID[100], byID[1103], byID[2001]
	if len(jobs) != 3 || len(chain.Runs) != RunsMost || chain.Runs[0].ID != 70 || chain.Runs[29].ID != 99 || chain.Runs[29].Took() != 99*time.Second {
		t.Errorf("%d %+v", len(jobs), chain)
	}
	if len(key.Runs) != RunsMost || key.Runs[29].ID != 1103 || key.Failures != 3 {
		t.Errorf("%+v", key)
	}
	if len(retried.Runs) != 2 || retried.Runs[1].Took() != 5*time.Second || *retried.LastState != "FAIL" || !retried.Failing() {
		t.Errorf("%+v", retried)
	}
}

// TestZonesOfExpressions: they are shown apart.
func TestZonesOfExpressions(t *testing.T) {
	t.Parallel()
	for cron, want := range map[string][2]string{
		"CRON_TZ=Asia/Tokyo  0 3 * * *": {"Asia/Tokyo", "0 3 * * *"}, "TZ=UTC @daily": {"UTC", "@daily"}, "@daily": {"", "@daily"}, "TZ=": {"", "TZ="},
	} {
		if zone, rest := cutZone(cron); zone != want[0] || rest != want[1] {
			t.Errorf("%q: %q %q", cron, zone, rest)
		}
	}
}

// TestTargetsThatCannotBeReadHideNoOthers: they are read at the same time, and a server that does
// not answer holds nobody for long.
func TestTargetsThatCannotBeReadHideNoOthers(t *testing.T) {
	t.Parallel()
	to, _, s := made(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, port, _ := net.SplitHostPort(mute.Addr().String())
	targets := []work.Target{single(t, "host=127.0.0.1 port="+port+" user=u dbname=mute sslmode=disable"), to, single(t, "host=127.0.0.1 port=1 user=u dbname=away"), to, to}
	read := make([]bool, len(targets))
	began := time.Now()
	errs := s.Each(t.Context(), targets, 500*time.Millisecond, func(_ context.Context, i int, _ *Table) error {
		read[i] = true
		return nil
	})
	if !errors.Is(errs[0], ErrSlow) || errs[2] == nil || !slices.Equal(read, []bool{false, true, false, true, true}) || time.Since(began) > 5*time.Second {
		t.Error(errs, read, time.Since(began))
	}
}

// TestJobsAndLanesReadFewRows: by indexes alone, whatever the statistics say.
func TestJobsAndLanesReadFewRows(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks,
		"ALTER TABLE task SET (autovacuum_enabled = off)",
		`INSERT INTO task (input, state, key, start, stop, plan) SELECT '', 'DONE', CASE WHEN i % 2 = 0 THEN 'k' || i % 500 END, now(), now(), now() FROM generate_series(1, 60000) AS i`,
		"INSERT INTO task (input, plan, key) SELECT '', now() + interval '1 s' * i, 'wait ' || i FROM generate_series(1, 20000) AS i",
		"INSERT INTO task (input, plan) SELECT '', now() - interval '1 s' FROM generate_series(1, 20000) AS i",
		"INSERT INTO task (input, state, stop) SELECT '', 'DONE', now() FROM generate_series(1, 20000) AS i")
	ids, keys := make([]int64, JobsMost), make([]string, JobsMost)
	for i := range ids {
		ids[i], keys[i] = int64(i+1), fmt.Sprint("k", i)
	}
	ahead := pgtype.Interval{Microseconds: LanesAhead.Microseconds(), Valid: true}
	for _, statistics := range []string{"SELECT", "ANALYZE task"} {
		servertest.Exec(t, tasks.Conn, statistics)
		err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) error {
			for _, c := range []struct {
				name string
				args []any
				most int64 // rows
			}{
				{"jobs", []any{2 * JobsMost, NewestRows, JobsMost + 1}, 2*NewestRows + 8*JobsMost},
				{"job_runs", []any{ids, RunsMost}, 2 * JobsMost},
				{"key_runs", []any{keys, NewestRows, RunsMost}, NewestRows},
				{"lanes", []any{LanesNewest, ahead, plannedMost + 1}, 2*LanesNewest + plannedMost + 1},
			} {
				var text string
				if err := b.conn.QueryRow(ctx, "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+b.queries.Text(c.name), c.args...).Scan(&text); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				if read := rowsRead(t, text); read > c.most {
					t.Errorf("%s after %s: reads %d rows\n%s", c.name, statistics, read, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if jobs, all := jobsOf(t, s, to, Hidden{}); len(jobs) != JobsMost || all {
		t.Error(len(jobs), all)
	}
}

// rowsRead returns how many rows of the table a plan has read. No scan of all may be in it.
func rowsRead(t *testing.T, text string) (n int64) {
	t.Helper()
	type node struct {
		Kind     string  `json:"Node Type"`
		Relation string  `json:"Relation Name"`
		Rows     float64 `json:"Actual Rows"`
		Loops    float64 `json:"Actual Loops"`
		Filtered float64 `json:"Rows Removed by Filter"`
		Plans    []json.RawMessage
	}
	var read func(raw json.RawMessage)
	read = func(raw json.RawMessage) {
		var p node
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if p.Relation == "task" {
			n += int64((p.Rows + p.Filtered) * p.Loops)
			if !strings.HasPrefix(p.Kind, "Index") && p.Loops > 0 { // an alternative that was not chosen has no loops
				t.Errorf("%s in %s", p.Kind, text)
			}
		}
		for _, below := range p.Plans {
			read(below)
		}
	}
	var plans []struct{ Plan json.RawMessage }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	read(plans[0].Plan)
	return n
}
