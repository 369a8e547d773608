package judge

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/work/change"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// stage is a task table that nobody serves, a Judge of its rows, and everything the Judge has told.
type stage struct {
	tasktest.Table
	*Judge
	ended   []change.Changed
	over    []run.Outcome
	written []run.Outcome
}

func staged(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	s := &stage{Table: tasktest.Public(t, servertest.Connect(t, dsn))}
	c, served := controltest.Open(t, dsn)
	holds, log, clock := hold.NewHolds(), target.NewLog(zerolog.Nop(), nil), &run.Clock{}
	clock.Set(time.Now(), time.Now(), time.Now())
	s.Judge = New(Config{
		Rows: change.Rows{
			Control: c, Holds: holds, Tries: hold.NewTries(), Log: log, Tasks: inflight.Tasks{},
			Changes: change.New(change.Config{Control: c, Holds: holds, Log: log, Table: served.Relation()}),
		},
		Runs: run.New(run.Config{
			Lanes: lane.New[*run.Task](8, time.Second, clock.Now), Clock: clock, Pool: pool.New(pool.Config{}),
		}),
		Panics: &Panics{}, Prefix: pool.SessionPrefix(&served), Place: func() *string { return nil },
		Partial: func() bool { return false }, Ended: func(all []change.Changed) { s.ended = append(s.ended, all...) },
		Over:  func(o run.Outcome) { s.over = append(s.over, o) },
		Write: func(o run.Outcome) { s.written = append(s.written, o) },
	})
	s.Begin(clock.Now())
	return s
}

// steps does everything that can be done now.
func (s *stage) steps() {
	s.T.Helper()
	if err := s.Step(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// session opens a session that is registered, if asked for, as if a leader had opened it.
func (s *stage) session(registered bool) (conn *pgx.Conn, pid int32, since time.Time) {
	s.T.Helper()
	conn = servertest.Connect(s.T, s.Conn.Config().ConnString())
	pid = int32(conn.PgConn().PID())
	row := s.Conn.QueryRow(s.T.Context(), "SELECT backend_start FROM pg_stat_activity WHERE pid = $1", pid)
	if err := row.Scan(&since); err != nil {
		s.T.Fatal(err)
	}
	if registered {
		register := sql.Beside(sql.Table{Schema: "public", Name: "task"}, "session")
		servertest.Exec(s.T, s.Conn, "INSERT INTO "+register+" VALUES ($1, $2)", pid, since)
	}
	return conn, pid, since
}

// task makes a task of ours of a row.
func (s *stage) task(row run.Row) *run.Task {
	one := &run.Task{Row: row}
	one.Ticket = one.Row.Ticket(lane.KeyOf("group", row.Remote))
	s.Tasks.Know([]*run.Task{one})
	return one
}

// alive reports whether a session exists.
func (s *stage) alive(pid int32) bool {
	s.T.Helper()
	return servertest.Get(s.T, s.Conn, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid) == "1"
}
