package work

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/work/pool"
)

// led is a stage that a loop of the test leads.
type led struct {
	*stage
	loop *loop
}

// leading begins a stage in which all tasks are local.
func leading(t *testing.T, change ...func(*Target)) *led {
	t.Helper()
	s := furnished(t, change...)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	l := newLoop(ctx, newService(s.target, zerologNone))
	s.stop, s.ended = make(chan struct{}), make(chan struct{})
	l.drain.stop = s.stop
	go func() {
		defer close(s.ended)
		s.err = l.lead(ctx)
	}()
	t.Cleanup(func() {
		l.runs.Lanes.Slots.Close()
		cancel()
		<-s.ended
		l.crew.End()
		l.crew.Wait()
		pool.Close(l.runs.Pool.Stale(0))
	})
	return &led{s, l}
}

// waits is a query that takes no time, or waits for the test if its data say so.
const waits = "SELECT CASE current_setting('pg_task.data') WHEN 'wait' THEN pg_advisory_xact_lock_shared(7)::text ELSE 'quick' END"

// stuck makes a pipeline wait. Its first task is in the first group, and waits for a lock that the
// test holds until release. The other tasks, four in each group in turn, come after it. Some of
// them are already with the server.
func (s *led) stuck(groups ...string) (first int64, others []int64, release func()) {
	s.t.Helper()
	holder := s.connect()
	release = func() { s.tell(holder, "SELECT pg_advisory_unlock(7)") }
	for range 20 {
		s.tell(holder, "SELECT pg_advisory_lock(7)")
		first, others = s.crowd(groups)
		s.eventually("1", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		if s.queued() > 0 {
			return first, others, release
		}
		release() // the waiting task was the last of its pipeline
		s.done(append(others, first)...)
	}
	s.t.Fatal("nothing is queued after the task that waits")
	return 0, nil, nil
}

func (s *led) tell(conn *pgx.Conn, sql string) {
	s.t.Helper()
	if _, err := conn.Exec(context.WithoutCancel(s.t.Context()), sql); err != nil {
		s.t.Fatal(err)
	}
}

// crowd adds many quick tasks, one that waits, and others.
func (s *led) crowd(groups []string) (first int64, others []int64) {
	s.t.Helper()
	rows, err := s.conn.Query(s.t.Context(), `INSERT INTO task (input, "group", data)
		SELECT $1, ($2::text[])[(i + 100 * n) % n + 1], CASE i WHEN 0 THEN 'wait' ELSE 'quick' END
		FROM cardinality($2::text[]) AS n, generate_series(-100 * n, 4 * n) AS i
		RETURNING id`, waits, groups)
	if err != nil {
		s.t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		s.t.Fatal(err)
	}
	at := 100 * len(groups)
	return ids[at], ids[at+1:]
}

// queued is the number of tasks that are with the server after others.
func (s *led) queued() int {
	return s.loop.runs.Behind()
}

// done waits until the tasks are DONE after one run.
func (s *led) done(ids ...int64) {
	s.t.Helper()
	s.eventually(fmt.Sprint(len(ids)), "SELECT count(*) FROM task WHERE id = ANY ($1) AND state = 'DONE' AND output IS NOT NULL AND attempt = 1 AND interrupted = 0", ids)
}

// serveWith is serve with a look at each loop before it begins. The first loop is number 1.
func (s *stage) serveWith(begins func(number int, l *loop)) {
	s.t.Helper()
	s.beginWith(begins)
	s.settled()
}

// beginWith does the same, but does not wait until the table is served.
func (s *stage) beginWith(begins func(number int, l *loop)) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.stop, s.ended = make(chan struct{}), make(chan struct{})
	number := 0
	sv := newService(s.target, zerolog.New(s))
	sv.begins = func(l *loop) {
		number++
		begins(number, l)
	}
	stop, ended := s.stop, s.ended
	go func() {
		defer close(ended)
		s.err = sv.serve(ctx, stop)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		if s.t.Failed() {
			lines := strings.Split(s.logged(), "\n")
			s.t.Log(strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
	})
}
