package main

import (
	"context"
	"os"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"pgtaskd/demo"
)

type demoCommand struct {
	DSN   string `placeholder:"DSN" help:"Use an existing database instead of a throw-away server."`
	Empty bool   `help:"Insert no examples: only your own tasks run."`
}

// Run shows tasks at work until SIGTERM or SIGINT.
func (c *demoCommand) Run(ctx context.Context, p *program) error {
	p.setLevel(zerolog.WarnLevel)
	log := p.logger()
	ctx, stop, release := untilSignal(ctx, log)
	defer release()
	out := p.stdout
	if file, ok := out.(*os.File); ok && isTerminal(file) {
		screen := demo.NewScreen(file, func() (width, height int) {
			width, height, _ = term.GetSize(int(file.Fd())) // 0, 0: lines scroll
			return width, height
		})
		if out = screen; p.output.terminal { // the log writes between the lines
			p.output.out = screen
		}
	}
	return demo.Run(ctx, demo.Options{DSN: c.DSN, Empty: c.Empty, Out: out, Log: log, Version: programVersion(), Stop: stop})
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }
