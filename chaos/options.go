package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"time"
)

type options struct {
	seed    uint64
	length  time.Duration
	mode    mode
	program string
}

// mode is the kind of tasks and of server.
type mode string

const (
	local  mode = "default" // tasks in the target's own database: exactly once
	async  mode = "async"   // the same, with synchronous_commit off
	remote mode = "remote"  // tasks with a remote, which is the same database
	// tasks with a remote that is another server, in failover with a synchronous standby
	servers  mode = "servers"
	failover mode = "failover"
)

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{seed: uint64(time.Now().UnixNano()) % 1_000_000}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", o.seed, "decides which faults come, in which order, after which pauses")
	flags.DurationVar(&o.length, "for", 2*time.Minute, "for how long things break")
	flags.StringVar((*string)(&o.mode), "mode", string(local), "default, async, remote, servers or failover")
	flags.StringVar(&o.program, "pgtaskd", "", "run this `program` instead of building the one of this module")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case !slices.Contains([]mode{local, async, remote, servers, failover}, o.mode):
		return o, fmt.Errorf("unknown mode %q", o.mode)
	}
	return o, nil
}
