package edit_test

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/edit"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// patience is how long a test waits for something that should come soon.
const patience = 20 * time.Second

// stage is a table of tasks with the sessions of the page.
type stage struct {
	tasktest.Table
	target   work.Target
	sessions *rows.Sessions
}

func staged(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	target, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	target.Grace = 0
	s := &stage{tasktest.Public(t, servertest.Connect(t, dsn)), target, rows.New()}
	t.Cleanup(s.sessions.Close)
	return s
}

// served lets a controller serve the table until the test ends.
func (s *stage) served() {
	stop, ended := make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(s.T.Context())
	go func() {
		ended <- conf.RunTargets(ctx, []work.Target{s.target}, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop})
	}()
	s.T.Cleanup(func() {
		close(stop)
		<-ended
	})
}

// one does an act to one task.
func (s *stage) one(d edit.Doing, id int64) error {
	return s.sessions.Change(s.T.Context(), s.target, time.Second, func(ctx context.Context, b *rows.Table) error {
		return edit.One(ctx, b, d, id)
	})
}

// put inserts a row as it is: no trigger fires.
func (s *stage) put(statement string) {
	s.Exec("SET session_replication_role = replica")
	s.Exec(statement)
	s.Exec("RESET session_replication_role")
}
