package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"pgtaskd/ask"
	"pgtaskd/conf"
	"pgtaskd/remote"
	"pgtaskd/work"
)

// scope says which tables a command is for.
type scope struct {
	Config string `placeholder:"FILE" predictor:"file" help:"The JSON configuration that run has."`
	Where  string `name:"dsn" placeholder:"DSN" help:"Connection string of a database whose table public.task is meant, in place of a configuration. PG* variables apply, and are enough."`
	Target string `placeholder:"DATABASE/SCHEMA/TABLE" help:"Only this target of the configuration."`
}

// targets are those that the command line means.
func (c scope) targets(dsn string) ([]work.Target, error) {
	given := 0
	for _, text := range []string{c.Config, c.Where, dsn} {
		if text != "" {
			given++
		}
	}
	if given > 1 {
		return nil, &usageError{errors.New("give --config FILE or a connection string, not both")}
	}
	all, err := configured(c.Config, cmp.Or(c.Where, dsn))
	if err != nil || c.Target == "" {
		return all, err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(t work.Target) bool { return t.Name() != c.Target })
	if len(chosen) == 0 {
		names := make([]string, len(all))
		for i, t := range all {
			names[i] = t.Name()
		}
		return nil, fmt.Errorf("there is no target %s: the targets are %s", c.Target, strings.Join(names, ", "))
	}
	return chosen, nil
}

// configured are the targets of a configuration, or of a connection string.
func configured(file, dsn string) ([]work.Target, error) {
	switch {
	case file != "":
		f, err := conf.Read(file)
		if err != nil {
			return nil, named(file, err)
		}
		if len(f.Targets) == 0 {
			return nil, fmt.Errorf("%s has no targets", file)
		}
		return f.Targets, nil
	case dsn == "" && !remote.Placed():
		return nil, &usageError{errors.New("give --config FILE, a connection string, or PGHOST, PGDATABASE or PGSERVICE in the environment")}
	}
	target, err := conf.Single(dsn)
	return []work.Target{target}, err
}

// asJSON is the flag of commands that print data.
type asJSON struct {
	JSON bool `name:"json" help:"Print JSON: an object a line."`
}

// screen is where the answers of a command go.
func (p *program) screen(json bool) *ask.Screen {
	s := &ask.Screen{Out: p.stdout, Err: p.stderr, Visible: visible}
	if json {
		s.Objects = visibleJSON{p.stdout}
	}
	if file, ok := p.stderr.(*os.File); ok {
		s.Terminal = isTerminal(file)
	}
	return s
}

// asked is the error of a command that asks: what has been written already is not said again.
func asked(err error) error {
	if errors.Is(err, ask.ErrFailed) {
		return errReported
	}
	return err
}

// untilInterrupt is a context that SIGINT or SIGTERM ends.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

type statusCommand struct {
	scope
	asJSON
	DSN     string        `arg:"" optional:"" help:"The same as --dsn."`
	Timeout time.Duration `default:"900ms" placeholder:"TIME" help:"How long to wait for the servers (900ms)."`
}

// Run shows how the targets stand.
func (c *statusCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets(c.DSN)
	if err != nil {
		return err
	}
	return asked(ask.ShowStatus(ctx, p.screen(c.JSON), targets, c.Timeout))
}

type lsCommand struct {
	scope
	asJSON
	DSN   string   `arg:"" optional:"" help:"The same as --dsn."`
	State []string `placeholder:"STATE" predictor:"state" help:"Only tasks in this state, or these: --state fail,gone."`
	Group string   `placeholder:"GROUP" help:"Only tasks of this group; one that ends in % means all that begin so."`
	Key   string   `placeholder:"KEY" help:"Only tasks of this key."`
	Since string   `placeholder:"TIME" help:"Only tasks inserted, started or ended since: a moment, or how long ago (\"2 hours\")."`
	Most  int64    `name:"number" short:"n" default:"20" placeholder:"N" help:"At most so many of each target (20); 0: all."`
}

// Run lists tasks.
func (c *lsCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets(c.DSN)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	f := ask.Filter{States: c.State, Group: c.Group, Key: c.Key, Since: c.Since, Most: c.Most}
	return asked(ask.List(ctx, p.screen(c.JSON), targets, f))
}

type showCommand struct {
	scope
	asJSON
	ID  int64  `arg:"" help:"The task's id."`
	DSN string `arg:"" optional:"" help:"The same as --dsn."`
}

// Run shows a task.
func (c *showCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets(c.DSN)
	if err != nil {
		return err
	}
	return asked(ask.Show(ctx, p.screen(c.JSON), targets, c.ID))
}

// changeCommand is what stop and again have.
type changeCommand struct {
	scope
	asJSON
	ID []int64 `arg:"" name:"id" help:"Ids of tasks."`
}

type stopCommand struct{ changeCommand }

// Run stops tasks.
func (c *stopCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets("")
	if err != nil {
		return err
	}
	return asked(ask.Stop(ctx, p.screen(c.JSON), targets, c.ID))
}

type againCommand struct{ changeCommand }

// Run lets tasks run again.
func (c *againCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets("")
	if err != nil {
		return err
	}
	return asked(ask.Again(ctx, p.screen(c.JSON), targets, c.ID))
}
