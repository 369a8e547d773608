package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

type demoCommand struct {
	DSN string `placeholder:"DSN" help:"Use a database that is there instead of a throw-away server."`
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

func (c *demoCommand) Run(ctx context.Context, p *program) error { return errors.New("not built") }
