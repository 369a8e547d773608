package work

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/target"
)

// patient bounds how long a test waits for something that must come.
const patient = 25 * time.Second

// stage is a database with a task table that is served, and a connection of the test to it.
type stage struct {
	t      *testing.T
	dsn    string
	conn   *pgx.Conn
	target Target

	mu  sync.Mutex
	log bytes.Buffer

	stop  chan struct{}
	ended chan struct{}
	err   error // result of Serve, once ended is closed
}

func (s *stage) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

func (s *stage) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// leads is how often Serve has become the leader.
func (s *stage) leads() int { return bytes.Count([]byte(s.logged()), []byte(`"leading"`)) }

// targetOf is the table public.task of a database, with short times for tests.
func targetOf(t *testing.T, dsn string) Target {
	t.Helper()
	settings, err := remote.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return Target{
		Connect: settings, Admin: settings, Schema: "public", Table: "task",
		Live:  target.Live{Sleep: 100 * time.Millisecond, Grace: 5 * time.Second, Idle: time.Minute, Run: 8, OutputLimit: 8 << 20},
		Reset: time.Second, DataLimit: 8 << 20, Create: true,
	}
}

// play serves the table of a new database until the end of the test.
func play(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	s := furnished(t, change...)
	s.serve()
	s.settled()
	return s
}

// furnished is a stage that is not served yet, and has the table.
func furnished(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	return stageOn(t, tasktest.Database(t), change...)
}

// prepared is a stage that is not served yet, and has no table.
func prepared(t *testing.T, change ...func(*Target)) *stage {
	t.Helper()
	return stageOn(t, servertest.Database(t), change...)
}

// stageOn is a stage in a given database.
func stageOn(t *testing.T, dsn string, change ...func(*Target)) *stage {
	t.Helper()
	s := &stage{t: t, dsn: dsn, target: targetOf(t, dsn)}
	for _, change := range change {
		change(&s.target)
	}
	s.conn = s.connect()
	return s
}

func (s *stage) connect() *pgx.Conn {
	s.t.Helper()
	return servertest.Connect(s.t, s.dsn)
}

// serve runs Serve until the end of the test.
func (s *stage) serve() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.stop, s.ended = make(chan struct{}), make(chan struct{})
	stop, ended := s.stop, s.ended
	go func() {
		defer close(ended)
		s.err = Serve(ctx, stop, s.target, zerolog.New(s))
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

func (s *stage) drain() {
	s.t.Helper()
	close(s.stop)
	select {
	case <-s.ended:
	case <-time.After(patient):
		s.t.Fatal("the drain does not end")
	}
}

// installed makes the table, and returns an idle loop that has a control connection.
func (s *stage) installed() *loop {
	s.t.Helper()
	l := s.connected()
	if err := l.leader.shape.install(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// connected is a loop that has only a control connection.
func (s *stage) connected() *loop {
	s.t.Helper()
	l := newLoop(s.t.Context(), newService(s.target, zerologNone))
	if err := l.table.Connect(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(l.control.Close)
	return l
}

func (s *stage) settled() {
	s.t.Helper()
	s.until("leading", func() bool { return s.leads() > 0 })
}

func (s *stage) tasks() tasktest.Table { return tasktest.Table{T: s.t, Conn: s.conn, Name: "task"} }

func (s *stage) exec(sql string, args ...any) {
	s.t.Helper()
	servertest.Exec(s.t, s.conn, sql, args...)
}

// get is the one value of a query, as text.
func (s *stage) get(sql string, args ...any) string {
	s.t.Helper()
	return servertest.Get(s.t, s.conn, sql, args...)
}

func (s *stage) add(columns string, values ...any) (id int64) {
	s.t.Helper()
	return s.tasks().Add(columns, values...)
}

func (s *stage) state(id int64) string {
	s.t.Helper()
	return s.tasks().State(id)
}

// becomes waits until a task has one of the states.
func (s *stage) becomes(id int64, states ...string) {
	s.t.Helper()
	s.tasks().Becomes(patient, id, states...)
}

// lock locks a task's row until it is released.
func (s *stage) lock(id int64, how string) (release func()) {
	s.t.Helper()
	tx, err := s.connect().Begin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := tx.Exec(s.t.Context(), "SELECT FROM task WHERE id = $1 "+how, id); err != nil {
		s.t.Fatal(err)
	}
	return func() { _ = tx.Rollback(context.WithoutCancel(s.t.Context())) }
}

// refuse makes a trigger raise an error for the row with data 'odd', under a condition on NEW.
func (s *stage) refuse(when, condition string) {
	s.t.Helper()
	s.exec("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' AND " + condition +
		" THEN RAISE 'not this one'; END IF; RETURN NEW; END$$; CREATE TRIGGER refuse BEFORE " + when + " ON task FOR EACH ROW EXECUTE FUNCTION refuse()")
}

// quiet waits until no task's SQL runs.
func (s *stage) quiet() {
	s.t.Helper()
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %' AND state = 'active'")
}

// others adds a task in its own lane, and checks that it runs at once and the lead was not lost.
func (s *stage) others() {
	s.t.Helper()
	leads, began := s.leads(), time.Now()
	id := s.add(`input, "group"`, "SELECT 'other'", "others")
	s.becomes(id, "DONE")
	if took := time.Since(began); took > servertest.Limit(3*time.Second) {
		s.t.Errorf("another lane's task had to wait %s", took)
	}
	if s.leads() != leads || s.leads() > 1 {
		s.t.Errorf("led %d times", s.leads())
	}
}

func (s *stage) row(id int64, columns string) string {
	s.t.Helper()
	return s.tasks().JSON(id, columns)
}

// eventually waits until a query gives the value.
func (s *stage) eventually(want, sql string, args ...any) {
	s.t.Helper()
	var got string
	s.until(sql+" = "+want, func() bool { got = s.get(sql, args...); return got == want }, func() string { return "it is " + got })
}

func (s *stage) until(what string, done func() bool, report ...func() string) {
	s.t.Helper()
	servertest.Wait(s.t, patient, what, done, report...)
}

func connectTo(ctx context.Context, dsn string) (*pgx.Conn, error) { return pgx.Connect(ctx, dsn) }

// zerologNone is the log of loops that a test makes itself.
var zerologNone = zerolog.Nop()

func (s *stage) version(id int64) (version uint32) {
	s.t.Helper()
	if err := s.conn.QueryRow(s.t.Context(), "SELECT xmin FROM task WHERE id = $1", id).Scan(&version); err != nil {
		s.t.Fatal(err)
	}
	return version
}

// says waits for a log line that has all the parts.
func (s *stage) says(parts ...string) {
	s.t.Helper()
	s.until("the log to say "+strings.Join(parts, ", "), func() bool {
		for line := range strings.Lines(s.logged()) {
			all := true
			for _, part := range parts {
				all = all && strings.Contains(line, part)
			}
			if all {
				return true
			}
		}
		return false
	})
}

func (s *stage) on(conn *pgx.Conn, sql string) {
	s.t.Helper()
	servertest.Exec(s.t, conn, sql)
}

func (s *stage) succeeds(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
