package top

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// patience is how long a test waits for something that should come soon.
const patience = 20 * time.Second

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
	target.Grace = 0
	return target
}

// serve serves a target until the test ends.
func serve(t *testing.T, target work.Target) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		ended <- conf.RunTargets(ctx, []work.Target{target}, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop})
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
	})
}

// put inserts rows as they are: no trigger fires.
func put(table tasktest.Table, statement string, args ...any) {
	table.Exec("SET session_replication_role = replica")
	table.Exec(statement, args...)
	table.Exec("RESET session_replication_role")
}

// terminal is a screen whose pictures a test sees.
type terminal struct {
	tcell.SimulationScreen
	t     *testing.T
	shown chan string // the newest picture
	ended chan error
}

// opened shows targets on a terminal of this size until the test ends.
func opened(t *testing.T, width, height int, targets ...work.Target) *terminal {
	t.Helper()
	s := &terminal{tcell.NewSimulationScreen("UTF-8"), t, make(chan string, 1), make(chan error, 1)}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(width, height)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { s.ended <- show(ctx, s, targets); close(s.ended) }()
	t.Cleanup(func() {
		cancel()
		<-s.ended
	})
	return s
}

// Show keeps the picture.
func (s *terminal) Show() {
	s.SimulationScreen.Show()
	cells, width, _ := s.GetContents()
	var b strings.Builder
	for i, c := range cells {
		if i%width == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(string(c.Runes))
	}
	select {
	case <-s.shown:
	default:
	}
	s.shown <- b.String()
}

// press presses keys.
func (s *terminal) press(keys string) {
	for _, r := range keys {
		switch r {
		case '\n':
			s.InjectKey(tcell.KeyEnter, 0, 0)
		case '\x1b':
			s.InjectKey(tcell.KeyEscape, 0, 0)
		case '\t':
			s.InjectKey(tcell.KeyTab, 0, 0)
		default:
			s.InjectKey(tcell.KeyRune, r, 0)
		}
	}
}

// shows waits for a picture that has all texts, and none of those after a "-".
func (s *terminal) shows(texts ...string) {
	s.t.Helper()
	last, over := "", time.After(servertest.Limit(patience))
	for {
		select {
		case last = <-s.shown:
		case err := <-s.ended:
			s.t.Fatalf("it ended (%v):%s", err, last)
		case <-over:
			s.t.Fatalf("%q does not come:%s", texts, last)
		}
		right := true
		for _, text := range texts {
			without, no := strings.CutPrefix(text, "-")
			right = right && strings.Contains(last, without) != no
		}
		if right {
			return
		}
	}
}
