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

var errViolations = errors.New("a promise was broken")

// run breaks things, repairs them, waits until all tasks have ended, and makes the checks. The
// error is errViolations if a promise was broken.
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
	if err := r.print(stdout, o.mode.faults()); err != nil {
		return err
	}
	if r.broken() == 0 {
		return nil
	}
	dump, err := s.dump(ctx)
	return errors.Join(fmt.Errorf("%w; tables and logs are in %s", errViolations, dump), err)
}
