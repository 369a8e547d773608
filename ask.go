package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/ask"
	"pgtaskd/conf"
	"pgtaskd/human"
	"pgtaskd/work"
)

// asking are the flags of commands that read or change tasks.
type asking struct {
	scope
	Trust []string `placeholder:"ROLE" help:"Ask for tables of this role too, whose code can then do all that your role may; several: by commas."`
	asJSON
}

// asJSON is the flag of commands that print data.
type asJSON struct {
	JSON bool `name:"json" help:"Print JSON: an object a line."`
}

// ask calls do with the targets of the command line.
func (c asking) ask(p *program, dsn string, do func(*ask.Screen, []work.Target) error) error {
	targets, err := c.targets(p, dsn, c.Trust)
	if err != nil {
		return err
	}
	return do(p.screen(c.JSON), targets)
}

// screen returns the Screen for the answers of a command.
func (p *program) screen(json bool) *ask.Screen {
	s := &ask.Screen{Out: p.stdout, Err: p.stderr, Visible: human.Visible, Width: p.width()}
	if json {
		s.Objects = changed{p.stdout, visibleJSON}
	}
	if file, ok := p.stderr.(*os.File); ok {
		s.Terminal = isTerminal(file)
	}
	return s
}

// askCommands read or change the tasks of tables.
type askCommands struct {
	Status statusCommand `cmd:"" help:"Show who leads each target, what is due and what failed, and then what is paused, what fails and what waits longest. Exits with 1 where nobody leads or the server does not answer."`
	Ls     lsCommand     `cmd:"" help:"List tasks, newest first."`
	Show   showCommand   `cmd:"" help:"Show all of a task, and why it waits."`
	Stop   stopCommand   `cmd:"" help:"Stop tasks: pause what waits, cancel what runs."`
	Again  againCommand  `cmd:"" help:"Run ended tasks again."`
	Act    actCommand    `cmd:"" help:"Do to tasks what the page does: cancel, pause, resume, run, again, delete."`
	Pause  pauseCommand  `cmd:"" help:"Let no task of a group start, until it is resumed."`
	Resume resumeCommand `cmd:"" help:"Let tasks of a paused group start again."`
	Adopt  adoptCommand  `cmd:"" help:"Let copies be served: tables that were restored or cloned, and are refused by run and check."`
	Top    topCommand    `cmd:"" help:"Show jobs, what runs and errors, as the page does, and act on them."`
	Tail   tailCommand   `cmd:"" help:"Show what starts and ends, until ^C."`
	Drain  drainCommand  `cmd:"" help:"Run what is due, and exit: with 1 if anything failed, with 3 if a retry is left."`
}

// untilInterrupt returns a context that SIGINT or SIGTERM ends.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

type statusCommand struct {
	asking
	DSN     string        `arg:"" optional:"" help:"The same as --dsn."`
	Timeout time.Duration `default:"3s" placeholder:"TIME" help:"How long to wait for the servers (3s)."`
}

// Run shows the state of the targets.
func (c *statusCommand) Run(ctx context.Context, p *program) error {
	return c.ask(p, c.DSN, func(s *ask.Screen, targets []work.Target) error {
		return ask.ShowStatus(ctx, s, targets, c.Timeout)
	})
}

type lsCommand struct {
	asking
	DSN   string   `arg:"" optional:"" help:"The same as --dsn."`
	State []string `placeholder:"STATE" predictor:"state" help:"Only tasks in this state, or these: --state fail,gone."`
	Group string   `placeholder:"GROUP" help:"Only tasks of this group; one that ends in % means all that begin so."`
	Key   string   `placeholder:"KEY" help:"Only tasks of this key."`
	Since string   `placeholder:"TIME" help:"Only tasks inserted, started or ended since: a moment, or how long ago (\"2 hours\")."`
	Most  int64    `name:"number" short:"n" default:"20" placeholder:"N" help:"At most so many of each target (20); 0: all."`
}

// Run lists tasks.
func (c *lsCommand) Run(ctx context.Context, p *program) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	f := ask.Filter{States: c.State, Group: c.Group, Key: c.Key, Since: c.Since, Most: c.Most}
	return c.ask(p, c.DSN, func(s *ask.Screen, targets []work.Target) error {
		return ask.List(ctx, s, targets, f)
	})
}

type showCommand struct {
	asking
	ID  int64  `arg:"" help:"The task's id."`
	DSN string `arg:"" optional:"" help:"The same as --dsn."`
}

// Run shows a task.
func (c *showCommand) Run(ctx context.Context, p *program) error {
	return c.ask(p, c.DSN, func(s *ask.Screen, targets []work.Target) error {
		return ask.Show(ctx, s, targets, c.ID)
	})
}

// changeCommand are the arguments of stop and again.
type changeCommand struct {
	asking
	ID []string `arg:"" name:"id" help:"Ids of tasks; last, if not in --dsn, a connection string."`
}

// tasks splits the arguments into ids of tasks and a connection string.
func tasks(arguments []string) (ids []int64, dsn string, err error) {
	if last := len(arguments) - 1; last >= 0 && (last > 0 || strings.ContainsAny(arguments[last], "=:")) && strings.Trim(arguments[last], "-0123456789") == arguments[last] {
		arguments, dsn = arguments[:last], arguments[last]
	}
	for _, argument := range arguments {
		id, err := strconv.ParseInt(argument, 10, 64)
		if err != nil {
			return nil, "", &usageError{fmt.Errorf("%q is no id of a task", argument)}
		}
		ids = append(ids, id)
	}
	return ids, dsn, nil
}

// change calls do with the targets and the ids.
func (c *changeCommand) change(p *program, do func(*ask.Screen, []work.Target, []int64) error) error {
	ids, dsn, err := tasks(c.ID)
	if err == nil && len(ids) == 0 {
		err = &usageError{errors.New("give ids of tasks")}
	}
	if err != nil {
		return err
	}
	return c.ask(p, dsn, func(s *ask.Screen, targets []work.Target) error { return do(s, targets, ids) })
}

type stopCommand struct{ changeCommand }

// Run stops tasks.
func (c *stopCommand) Run(ctx context.Context, p *program) error {
	return c.change(p, func(s *ask.Screen, targets []work.Target, ids []int64) error { return ask.Stop(ctx, s, targets, ids) })
}

type againCommand struct{ changeCommand }

// Run lets ended tasks run again.
func (c *againCommand) Run(ctx context.Context, p *program) error {
	return c.change(p, func(s *ask.Screen, targets []work.Target, ids []int64) error { return ask.Again(ctx, s, targets, ids) })
}

type pauseCommand struct {
	asking
	Group []string `arg:"" help:"Groups; one that ends in % means all that begin so."`
	Until string   `placeholder:"TIME" help:"When the pause ends: a moment, or how long from now (\"2 hours\")."`
	Note  string   `placeholder:"TEXT" help:"Why, for people who look into the table of groups."`
}

// Run pauses groups.
func (c *pauseCommand) Run(ctx context.Context, p *program) error {
	return c.ask(p, "", func(s *ask.Screen, targets []work.Target) error {
		return ask.Pause(ctx, s, targets, c.Group, c.Until, c.Note)
	})
}

type resumeCommand struct {
	asking
	Group []string `arg:"" help:"Groups, as they were paused."`
}

// Run resumes groups.
func (c *resumeCommand) Run(ctx context.Context, p *program) error {
	return c.ask(p, "", func(s *ask.Screen, targets []work.Target) error {
		return ask.Resume(ctx, s, targets, c.Group)
	})
}

type tailCommand struct {
	asking
	DSN string `arg:"" optional:"" help:"The same as --dsn."`
}

// Run shows starts and ends of tasks until SIGINT or SIGTERM.
func (c *tailCommand) Run(ctx context.Context, p *program) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	return c.ask(p, c.DSN, func(s *ask.Screen, targets []work.Target) error {
		return ask.Tail(ctx, s, targets)
	})
}

type drainCommand struct {
	scope
	asJSON
	DSN   string `arg:"" optional:"" help:"The same as --dsn."`
	Until string `placeholder:"TIME" help:"Also wait for what is planned up to then: a moment, or how long from now (\"10 minutes\")."`
}

// Run serves the targets until nothing is due. Signals work as in run.
func (c *drainCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets(p, c.DSN, nil)
	if err != nil {
		return err
	}
	defer ignorePipe()()
	p.setLevel(zerolog.WarnLevel)
	log := p.logger()
	ctx, stop, release := untilSignal(ctx, log)
	defer release()
	return ask.Drain(ctx, p.screen(c.JSON), targets, c.Until, stop, func(ctx context.Context, stop <-chan struct{}) error {
		return conf.RunTargets(ctx, targets, log, conf.Options{Serve: work.Serve, Stop: stop})
	})
}
