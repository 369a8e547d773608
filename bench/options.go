package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

type options struct {
	quick      bool
	river      bool   // print the table that compares with River
	against    string // the program of another build to compare with; "": print the table
	pairs      int    // number of runs of each build
	only       *regexp.Regexp
	program    string
	profile    string
	statements bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	only := ""
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "one short round instead of three")
	flags.BoolVar(&o.river, "river", false, "measure beside River instead of pgbench")
	flags.StringVar(&o.against, "other", "", "compare with this `program`, another build, in turns")
	flags.IntVar(&o.pairs, "pairs", 5, "with -other: how many `pairs` of runs")
	flags.StringVar(&only, "only", "", "measure only the rows that match this `regexp`")
	flags.StringVar(&only, "rows", "", "the same as -only")
	flags.StringVar(&o.program, "pgtaskd", "", "measure this `program` instead of building the one of this module")
	flags.StringVar(&o.profile, "cpuprofile", "", "serve inside bench, and write its CPU profile to this `file`")
	flags.BoolVar(&o.statements, "statements", false, "show where the server's time went, by pg_stat_statements; slows it down")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.profile != "" && o.program != "" {
		return o, errors.New("-cpuprofile and -pgtaskd exclude each other: another process cannot be profiled")
	}
	if o.profile != "" && o.against != "" {
		return o, errors.New("-cpuprofile and -other exclude each other: both builds must be measured alike")
	}
	if o.river && o.against != "" {
		return o, errors.New("-river and -other exclude each other: give one")
	}
	if o.pairs < 1 {
		return o, errors.New("-pairs must be at least 1")
	}
	var err error
	o.only, err = regexp.Compile(only)
	return o, err
}

// effort tells how much to measure.
type effort struct {
	rounds  int
	atLeast time.Duration // least duration of tasks, and of pgbench, in a round
	both    bool          // run pgbench also with a thread for each core
	turns   int           // turns of INSERTs into each table, in a round
	samples int           // samples of a latency, in a round
	due     int           // tasks of a long backlog
	load    load
	targets int           // idle targets
	watched time.Duration // how long to watch them, in a round
}

var (
	full = effort{
		rounds: 3, atLeast: 4 * time.Second, both: true, turns: 8, samples: 1000, targets: 100, watched: 20 * time.Second,
		due: 1_000_000, load: load{finished: 5_000_000, later: 1_000_000, changes: 1_000_000},
	}
	quick = effort{
		rounds: 1, atLeast: 1200 * time.Millisecond, turns: 2, samples: 100, targets: 30, watched: 2 * time.Second,
		due: 50_000, load: load{finished: 20_000, later: 10_000, changes: 10_000},
	}
)

func (o options) effort() effort {
	e := full
	if o.quick {
		e = quick
	}
	if o.against != "" {
		e.rounds = o.pairs
	}
	return e
}
