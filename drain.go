package main

import (
	"context"

	"github.com/rs/zerolog"

	"pgtaskd/ask"
	"pgtaskd/conf"
	"pgtaskd/work"
)

type drainCommand struct {
	scope
	asJSON
	DSN   string `arg:"" optional:"" help:"The same as --dsn."`
	Until string `placeholder:"TIME" help:"Also wait for what is planned up to then: a moment, or how long from now (\"10 minutes\")."`
}

// Run serves the targets until nothing is due. The first SIGTERM or SIGINT ends that, as it ends
// run.
func (c *drainCommand) Run(ctx context.Context, p *program) error {
	targets, err := c.targets(p, c.DSN)
	if err != nil {
		return err
	}
	defer ignorePipe()()
	p.setLevel(zerolog.WarnLevel)
	log := p.logger()
	ctx, stop, release := untilSignal(ctx, log)
	defer release()
	return asked(ask.Drain(ctx, p.screen(c.JSON), targets, c.Until, stop, func(ctx context.Context, stop <-chan struct{}) error {
		return conf.RunTargets(ctx, targets, log, conf.Options{Serve: work.Serve, Stop: stop})
	}))
}
