package main

import (
	"context"

	"pgtaskd/ask"
	"pgtaskd/work"
)

type adoptCommand struct {
	asking
	DSN    string `arg:"" optional:"" help:"The same as --dsn."`
	All    bool   `xor:"way" help:"Everything goes on here. The same as without a flag."`
	Paused bool   `name:"keep-paused" xor:"way" help:"All that waits is paused first."`
	Gone   bool   `xor:"way" help:"All that waits is given up first: its state becomes GONE."`
}

// Run adopts the copies among the targets.
func (c *adoptCommand) Run(ctx context.Context, p *program) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	return c.ask(p, c.DSN, func(s *ask.Screen, targets []work.Target) error {
		return ask.Adopt(ctx, s, targets, c.Paused, c.Gone)
	})
}
