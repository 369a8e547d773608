package faults

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/work"
)

// controller serves the targets of some stages, and of a neighbour that has no fault.
type controller struct {
	t      *testing.T
	beside *neighbour

	mu  sync.Mutex
	log []line
}

type line struct{ Level, Target, Message, Error, Hint string }

// serve serves the stages until the test ends.
func serve(t *testing.T, stages ...*stage) *controller {
	t.Helper()
	c := &controller{t: t, beside: newNeighbour(t)}
	targets := []work.Target{c.beside.target}
	for _, s := range stages {
		s.controller = c
		targets = append(targets, s.target)
	}
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- conf.RunTargets(context.WithoutCancel(t.Context()), targets, zerolog.New(c).With().Timestamp().Logger(), conf.Options{Serve: work.Serve, Stop: stop})
	}()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// Write takes a line of the log.
func (c *controller) Write(text []byte) (int, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, l)
	return len(text), nil
}

// lines returns message, error and hint of a target's lines, from a position in the log on.
func (c *controller) lines(target string, from int) (lines []string, end int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.log[from:] {
		if l.Target == target {
			lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(l.Message+": "+l.Error, ": ")+" / "+l.Hint, " / "))
		}
	}
	return lines, len(c.log)
}
