package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pgtaskd/conf"
	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/work"
)

// drainLimit is how long tasks may go on when the demo ends. The demo has stopped its own tasks by
// then; a busy machine needs a moment for that.
const drainLimit = 5 * time.Second

// place is where the demo runs.
type place struct {
	target   work.Target
	examples []example
	server   *server.Server // nil: somebody else's database
}

// find returns the place that the options ask for.
func find(ctx context.Context, options Options) (p *place, err error) {
	if options.DSN != "" {
		p, err = guest(options.DSN)
	} else {
		p, err = host(ctx, options.Out)
	}
	if err != nil {
		return nil, err
	}
	p.target.Grace = drainLimit
	if options.Empty {
		p.examples = nil
	}
	return p, nil
}

// guest is a place in an existing database.
func guest(dsn string) (*place, error) {
	target, err := conf.Single(dsn)
	if err != nil {
		return nil, err
	}
	return &place{target: target, examples: load(false)}, nil
}

// host starts the demo's own server, with a database demo and, for the remote task, a role courier.
func host(ctx context.Context, out io.Writer) (*place, error) {
	if err := findBinaries(ctx, out); err != nil {
		return nil, err
	}
	fmt.Fprintln(out, "Starting a throw-away PostgreSQL server …")
	s, err := server.Start(ctx, server.Options{})
	if err != nil {
		return nil, err
	}
	p, err := prepare(ctx, s)
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return p, nil
}

func findBinaries(ctx context.Context, out io.Writer) error {
	_, err := server.Bindir()
	if !errors.Is(err, server.ErrNoBinaries) {
		return err
	}
	fmt.Fprintln(out, "The demo needs a PostgreSQL server, and finds none.")
	return server.Install(ctx, out) // it announces its steps
}

func prepare(ctx context.Context, s *server.Server) (*place, error) {
	password := rand.Text() // letters and digits only: no quoting needed
	admin, err := remote.Parse(s.DSN("postgres"))
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, admin, "CREATE DATABASE demo", "CREATE ROLE courier LOGIN PASSWORD '"+password+"'"); err != nil {
		return nil, err
	}
	target, err := conf.Single(s.DSN("demo"))
	if err != nil {
		return nil, err
	}
	target.Trust = []string{"PUBLIC"} // nobody else can connect
	target.Remotes = map[string]string{"courier": fmt.Sprintf(
		"host=127.0.0.1 port=%d user=courier password=%s dbname=demo sslmode=disable", s.Port, password)}
	return &place{target: target, examples: load(true), server: s}, nil
}

// leave removes the server if it is ours.
func (p *place) leave(out io.Writer) error {
	if p.server == nil {
		return nil
	}
	if err := p.server.Stop(); err != nil {
		return err
	}
	fmt.Fprintf(out, "The server is stopped, %s is removed.\n", p.server.SocketDir)
	return nil
}

// command is the shell command to look at the table. It contains no password: psql asks for it.
func (p *place) command() string {
	return "psql '" + strings.ReplaceAll(p.target.Connect.Public(), "'", `'\''`) + "'"
}

// about tells what happens to the place at the end.
func (p *place) about() string {
	switch {
	case p.server == nil && len(p.examples) == 0:
		return "The table stays."
	case p.server == nil:
		return "The examples stay in public.task then, but no longer run."
	}
	return "The server and " + p.server.SocketDir + " go with it."
}
