package ask

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// patient limits how long a test waits.
const patient = 20 * time.Second

// made returns a database with a task table that nobody serves.
func made(t *testing.T) (work.Target, tasktest.Table) {
	t.Helper()
	dsn := tasktest.Database(t)
	return single(t, dsn), tasktest.Public(t, servertest.Connect(t, dsn))
}

func single(t *testing.T, dsn string) work.Target {
	t.Helper()
	target, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// serve serves targets until the test ends or calls stop.
func serve(t *testing.T, targets ...work.Target) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- conf.RunTargets(ctx, targets, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stopped})
	}()
	open := true
	stop = func() {
		if open {
			open = false
			close(stopped)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(func() { stop(); cancel() })
	return stop
}

// screen is a Screen that records the output.
type screen struct {
	*Screen
	out, err, objects bytes.Buffer
}

// people returns a screen for people, program one for JSON.
func people() *screen {
	s := &screen{}
	s.Screen = &Screen{Out: &s.out, Err: &s.err, Visible: escaped}
	return s
}

func program() *screen {
	s := people()
	s.Objects = &s.objects
	return s
}

// text returns all output.
func (s *screen) text() string { return s.out.String() + s.objects.String() + s.err.String() }

// escaped replaces the program's function, which makes texts harmless.
func escaped(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, text)
}

// has checks that a text contains all parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q:\n%s", part, text)
		}
	}
}

// hasNot checks that a text contains none of the parts.
func hasNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("has %q:\n%s", part, text)
		}
	}
}

// put inserts a row as it is: no trigger fires.
func put(t *testing.T, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	servertest.Exec(t, conn, "SET session_replication_role = replica")
	servertest.Exec(t, conn, statement, args...)
	servertest.Exec(t, conn, "SET session_replication_role = DEFAULT")
}
