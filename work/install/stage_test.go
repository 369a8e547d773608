package install

import (
	"bytes"
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// stage is a Table in the test's own database, and a connection to that database.
type stage struct {
	*Table
	t      *testing.T
	conn   *pgx.Conn
	log    bytes.Buffer
	served bool
}

// stageOn connects to a database. The control connection lasts as long as the test.
func stageOn(t *testing.T, dsn string) *stage {
	t.Helper()
	settings, err := remote.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, conn: servertest.Connect(t, dsn)}
	of := target.Target{Connect: settings, Admin: settings, Schema: "public", Table: "task", Create: true}
	s.Table = &Table{
		Control: control.New(of, nil), Target: of, Log: target.NewLog(zerolog.New(&s.log), nil),
		Served: &s.served, Share: func(context.Context, sql.Table) error { return nil },
	}
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Control.Close)
	return s
}

// furnished returns a stage whose table exists.
func furnished(t *testing.T) *stage {
	t.Helper()
	return stageOn(t, tasktest.Database(t))
}

func (s *stage) exec(sql string) {
	s.t.Helper()
	servertest.Exec(s.t, s.conn, sql)
}

// look looks at the table.
func (s *stage) look() Found {
	s.t.Helper()
	found, err := s.Look(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// seen returns the columns now, as the leader reads them.
func (s *stage) seen() string {
	s.t.Helper()
	var columns string
	if err := s.Control.Row(s.t.Context(), "columns", []any{"public", "task"}, &columns, nil, nil, nil); err != nil {
		s.t.Fatal(err)
	}
	return columns
}

// stranger creates a role that nobody trusts. Its name is i_ and the name of the database.
func (s *stage) stranger() string {
	s.t.Helper()
	name := "i_" + s.conn.Config().Database
	s.exec("CREATE ROLE " + name + " LOGIN")
	s.t.Cleanup(func() {
		_, err := s.conn.Exec(context.WithoutCancel(s.t.Context()), "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			s.t.Error(err)
		}
	})
	return name
}
