package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strconv"

	"golang.org/x/term"

	"pgtaskd/ask/top"
	"pgtaskd/work"
)

type topCommand struct {
	scope
	Trust []string `placeholder:"ROLE" help:"Show tables of this role too, whose code can then do all that your role may; several: by commas."`
	DSN   string   `arg:"" optional:"" help:"The same as --dsn."`
	Once  bool     `help:"Print it and exit; with 1 if nothing could be read."`
}

// Run shows jobs, what runs and errors until the user quits.
func (c *topCommand) Run(ctx context.Context, p *program) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	targets, err := c.targets(p, c.DSN, c.Trust)
	if err != nil {
		return err
	}
	return p.top(ctx, targets, c.Once)
}

// lineWidth is that of lines that no terminal shows.
const lineWidth = 80

func (p *program) top(ctx context.Context, targets []work.Target, once bool) error {
	file, ok := p.stdout.(*os.File)
	terminal := ok && isTerminal(file)
	switch {
	case !once && !terminal:
		return errors.New("top needs a terminal: --once prints without one")
	case !once:
		return top.Run(ctx, targets)
	}
	return top.Once(ctx, p.stdout, targets, cmp.Or(p.width(), lineWidth))
}

// width returns the width of lines for people: COLUMNS says it, or the terminal; 0: any.
func (p *program) width() int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	if file, ok := p.stdout.(*os.File); ok && isTerminal(file) {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			return columns
		}
	}
	return 0
}
