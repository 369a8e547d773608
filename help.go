package main

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"pgtaskd/web/rows"
)

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"A command."`
}

// Run prints what --help prints.
func (c *helpCommand) Run(ctx context.Context, p *program) error {
	return run(ctx, append(c.Command, "--help"), p.stdout, p.stderr)
}

// completes reports whether the shell started the program to complete a command line. If so, it has
// answered.
func completes(parser *kong.Kong) bool {
	done := false
	var states []string
	for _, state := range rows.States {
		states = append(states, strings.ToLower(state))
	}
	kongcompletion.Register(parser,
		kongcompletion.WithPredictor("file", complete.PredictFiles("*")),
		kongcompletion.WithPredictor("state", complete.PredictSet(states...)),
		kongcompletion.WithExitFunc(func(int) { done = true }),
	)
	return done
}
