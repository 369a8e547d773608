package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestOutages sets the server's clock forward while nobody serves the table. It compares the beats
// that run, are skipped and are planned afterwards with what a person would count.
func TestOutages(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"an hour": 61 * time.Minute, "a day": 24 * time.Hour, "three months": 92 * 24 * time.Hour} {
		if !servertest.Thorough && name != "three months" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outage(t, ahead)
		})
	}
}

type job struct{ name, set, beats string }

// jobs come each minute, each night and on the last day of each month. beats lists all beats of a
// span by the server's own arithmetic.
var jobs = []job{
	{"minute", "cron = '* * * * *'", minutes},
	{"every minute", "repeat = '1 min', plan = date_trunc('minute', now()) + interval '1 min'", minutes},
	{"night", "cron = '30 2 * * *'", nights},
	{"every day", "repeat = '1 day', plan = now()::date + interval '1 day 2.5 hours'", nights},
	{"last day", "cron = '0 12 L * *'", "SELECT m + interval '1 month - 12 hours' FROM generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz, '1 month') AS m"},
}

const (
	minutes = "SELECT d FROM generate_series($1::timestamptz, $2::timestamptz, '1 min') AS d"
	nights  = "SELECT d FROM generate_series($1::timestamptz, $2::timestamptz, '1 day') AS d"
)

func outage(t *testing.T, ahead time.Duration) {
	postgres, err := server.Start(t.Context(), server.Options{Settings: map[string]string{"fsync": "off", "timezone": "UTC"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := postgres.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := stageOn(t, postgres.DSN("postgres"), func(target *Target) { target.Run = 50 })
	s.serve()
	s.settled()
	for _, job := range jobs {
		job.insert(s, ahead)
	}
	s.eventually("0", "SELECT count(*) FROM task WHERE cron IS NOT NULL AND origin IS NOT NULL")
	s.drain()
	must(t, s.conn, "CREATE TABLE first AS SELECT DISTINCT ON (data) id, data, plan, until, catchup, active = '0' AS always FROM task ORDER BY data, id DESC")
	if err := postgres.SetClock(ahead); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.conn = s.connect()
	s.serve()
	s.eventually("0", "SELECT count(*) FROM task WHERE state = 'WORK' OR state = 'PLAN' AND due <= now()")
	s.drain()
	rows, err := s.conn.Query(t.Context(), "SELECT id, data, plan, until, catchup, always FROM first ORDER BY data")
	if err != nil {
		t.Fatal(err)
	}
	chains, err := pgx.CollectRows(rows, pgx.RowToStructByPos[waited])
	if err != nil || len(chains) != len(jobs)*8 {
		t.Fatal(len(chains), err)
	}
	for _, chain := range chains {
		chain.check(s)
	}
}

// waited is the task of a chain that waited when the outage began.
type waited struct {
	ID      int64
	Name    string
	Plan    time.Time
	Until   *time.Time
	Catchup int
	Always  bool
}

// beaten is one task of a chain: its state, and how many beats were skipped before it.
type beaten struct {
	Plan    time.Time
	State   string
	Skipped int
}

// check compares the chain with what a person would count. The stop of its first task tells when
// that task ended or was given up.
func (m waited) check(s *stage) {
	s.t.Helper()
	rows, err := s.conn.Query(s.t.Context(), "SELECT plan, state::text, skipped FROM task WHERE data = $1 AND id >= $2 ORDER BY id", m.Name, m.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[beaten])
	if err != nil {
		s.t.Fatal(err)
	}
	var ended *time.Time
	if err := s.conn.QueryRow(s.t.Context(), "SELECT stop FROM task WHERE id = $1", m.ID).Scan(&ended); err != nil {
		s.t.Fatal(err)
	}
	want := m.expected(s, ended)
	if len(got) > 0 && len(want) > 0 {
		got[0].Skipped = want[0].Skipped
	}
	if waits := len(want) - 1; len(got) > waits && want[waits].State == "PLAN" && got[waits].State == "DONE" {
		got, want[waits].State = got[:waits+1], "DONE" // its plan was reached before the drain
	}
	if !slices.EqualFunc(got, want, func(a, b beaten) bool { return a.Plan.Equal(b.Plan) && a.State == b.State && a.Skipped == b.Skipped }) {
		s.t.Errorf("%s, ended %v\n got %v\nwant %v", m.Name, ended, got, want)
	}
}

func (m waited) expected(s *stage, ended *time.Time) (all []beaten) {
	if ended == nil { // it was not due yet
		return []beaten{{m.Plan, "PLAN", 0}}
	}
	late := ended.Sub(m.Plan) > time.Hour
	all = []beaten{{m.Plan, map[bool]string{true: "GONE", false: "DONE"}[late && !m.Always && m.Catchup == 0], 0}}
	query := jobs[slices.IndexFunc(jobs, func(j job) bool { return strings.HasPrefix(m.Name, j.name+",") })].beats
	var missed []time.Time
	var next time.Time
	rows, err := s.conn.Query(s.t.Context(), "SELECT d FROM ("+query+") AS b (d) WHERE d > $1 ORDER BY d", m.Plan, ended.AddDate(0, 2, 0))
	if err != nil {
		s.t.Fatal(err)
	}
	beats, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range beats {
		if b.After(*ended) {
			next = b
			break
		}
		missed = append(missed, b)
	}
	skipped := len(missed)
	if m.Catchup > 0 {
		if m.Until != nil {
			missed = slices.DeleteFunc(missed, func(b time.Time) bool { return b.After(*m.Until) })
		}
		run := missed[max(0, len(missed)-m.Catchup):]
		skipped = len(missed) - len(run)
		for _, b := range run {
			all = append(all, beaten{b, "DONE", skipped})
			skipped = 0
		}
	}
	if m.Until == nil || !next.After(*m.Until) {
		all = append(all, beaten{next, "PLAN", skipped})
	}
	return all
}

// insert adds the job with each setting. The first task of a chain by repeat is planned for the
// next minute, or night.
func (j job) insert(s *stage, ahead time.Duration) {
	for _, catchup := range []int{0, 2} {
		for _, active := range []string{"0", "1 hour"} {
			for _, until := range []string{"none", "half"} {
				name := fmt.Sprintf("%s, catchup %d, active %s, until %s", j.name, catchup, active, until)
				s.exec(`INSERT INTO task (data, "group", input, plan, catchup, active, until) VALUES ($1, $1, 'SELECT 1', '2100-01-01', $2, $3, CASE WHEN $4 = 'half' THEN now() + $5 * interval '0.5 s' END)`,
					name, catchup, active, until, ahead.Seconds())
			}
		}
	}
	s.exec("UPDATE task SET "+j.set+" WHERE data LIKE $1 || ',%'", j.name)
}
