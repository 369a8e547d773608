package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"pgtaskd/bench/riverclient"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if config := os.Getenv(riverclient.Env); config != "" {
		err = riverclient.Work(ctx, config)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "bench: %s\n", err)
		os.Exit(1)
	}
}

// run measures all rows in each round, so that other work on the machine affects all of them, and
// pgbench too.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	e := o.effort()
	s, err := openStand(ctx, o, e, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	if o.against != "" {
		return s.compare(ctx, &built{path: o.against})
	}
	all, machine := rows(e), ""
	if o.river {
		all, machine = besideRiver(), ", River "+riverVersion()
	}
	var t table
	chosen := slices.DeleteFunc(all, func(r row) bool { return !o.only.MatchString(r.title()) })
	for round := range e.rounds {
		for _, row := range chosen {
			fmt.Fprintf(stderr, "round %d of %d: %s\n", round+1, e.rounds, row.title())
			figures, err := row.measure(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", row.title(), err)
			}
			t.add(figures)
		}
	}
	return t.print(stdout, s.machine(ctx)+machine)
}
