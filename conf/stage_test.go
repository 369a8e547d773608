package conf

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// patience limits how long a test waits.
const patience = 20 * time.Second

// stage is a supervisor whose targets the test itself serves.
type stage struct {
	t      *testing.T
	path   string // of the file
	runs   chan *played
	log    chan string // messages, with their errors
	stop   chan struct{}
	reload chan os.Signal
	cancel context.CancelFunc
	ended  chan error
}

// played is one call of Serve.
type played struct {
	target work.Target
	stop   <-chan struct{}
	result chan error // what it returns
}

// open starts a supervisor on the file at path, which must exist.
func open(t *testing.T, path string, watch ...Watch) *stage {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &stage{
		t: t, path: path, cancel: cancel,
		runs: make(chan *played), log: make(chan string, 1000),
		stop: make(chan struct{}), reload: make(chan os.Signal), ended: make(chan error, 1),
	}
	log := zerolog.New(logged(s.log))
	options := Options{Serve: s.serve, Stop: s.stop, Reload: s.reload}
	if len(watch) > 0 {
		options.Watch = watch[0]
	}
	go func() { s.ended <- Run(ctx, path, log, options) }()
	t.Cleanup(func() {
		cancel()
		if s.ended != nil {
			<-s.ended
		}
	})
	return s
}

// logged sends each line of a log to a channel.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- lines(string(line))[0]
	return len(line), nil
}

// lines returns the messages of a log, with their errors.
func lines(log string) []string {
	var found []string
	for line := range strings.Lines(log) {
		var said struct{ Message, Error string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			panic(err)
		}
		found = append(found, strings.TrimSuffix(said.Message+": "+said.Error, ": "))
	}
	return found
}

func (s *stage) serve(ctx context.Context, stop <-chan struct{}, t work.Target, _ zerolog.Logger) error {
	run := &played{target: t, stop: stop, result: make(chan error)}
	select {
	case s.runs <- run:
	case <-stop:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-run.result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin waits until targets are served, in any order, and checks that they are the named ones.
func (s *stage) begin(names ...string) map[string]*played {
	s.t.Helper()
	begun := map[string]*played{}
	for range names {
		run := await(s.t, s.runs, "a target to start")
		begun[run.target.Name()] = run
	}
	for _, name := range names {
		if begun[name] == nil {
			s.t.Fatalf("%s was not started, but %v", name, begun)
		}
	}
	return begun
}

// says waits for a line of the log.
func (s *stage) says(part string) {
	s.t.Helper()
	for !strings.Contains(await(s.t, s.log, part), part) {
	}
}

// write replaces the content of the file, at once.
func (s *stage) write(text string) {
	s.t.Helper()
	replace(s.t, s.path, text)
}

func (s *stage) finish(want error) {
	s.t.Helper()
	err := await(s.t, s.ended, "the end")
	s.ended = nil
	if !errors.Is(err, want) {
		s.t.Errorf("ended with %v, not %v", err, want)
	}
}

// drains waits until the target is told to stop.
func (p *played) drains(t *testing.T) {
	t.Helper()
	await(t, p.stop, p.target.Name()+" to drain")
}

func (p *played) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-p.stop:
		t.Errorf("%s drains", p.target.Name())
	default:
	}
}

func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// file writes a configuration into a new folder.
func file(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pgtaskd.json")
	replace(t, path, text)
	return path
}
