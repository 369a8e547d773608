package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "chaos: %s\n", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	seed    uint64
	length  time.Duration
	mode    mode
	program string
}

// mode is the kind of tasks, and the kind of server.
type mode string

const (
	local  mode = "default" // tasks in the target's own database: exactly once
	async  mode = "async"   // the same, with synchronous_commit off
	remote mode = "remote"  // tasks with a remote, which is the same database: at least once
)

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{seed: uint64(time.Now().UnixNano()) % 1_000_000}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", o.seed, "decides which faults come, in which order, after which pauses")
	flags.DurationVar(&o.length, "for", 2*time.Minute, "for how long things break")
	flags.StringVar((*string)(&o.mode), "mode", string(local), "default, async or remote")
	flags.StringVar(&o.program, "pgtaskd", "", "run this `program` instead of building the one of this module")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.mode != local && o.mode != async && o.mode != remote:
		return o, fmt.Errorf("unknown mode %q", o.mode)
	}
	return o, nil
}

var errViolations = errors.New("a promise was broken")

// run breaks things, has them healed, waits until all tasks have ended, and judges. The error is
// errViolations if a promise was broken.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "seed %d, %s, mode %s\n\n", o.seed, o.length, o.mode)
	s, err := openStand(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	var r report
	if err := s.storm(ctx, &r); err != nil {
		return err
	}
	if err := s.settle(ctx, &r); err != nil {
		return err
	}
	if err := s.judge(ctx, &r); err != nil {
		return err
	}
	if err := r.print(stdout); err != nil {
		return err
	}
	if r.broken() == 0 {
		return nil
	}
	dump, err := s.dump(ctx)
	return errors.Join(fmt.Errorf("%w; tables and logs are in %s", errViolations, dump), err)
}
