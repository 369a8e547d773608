package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"pgtaskd/conf"
	"pgtaskd/work"
)

type checkCommand struct {
	Config string `placeholder:"FILE" predictor:"file" help:"The JSON configuration." xor:"what"`
	DSN    string `arg:"" optional:"" help:"Connection string of the one database whose table public.task run would serve; PG* variables apply." xor:"what"`

	trusting
}

// trusting is the flag of commands that serve the table of a connection string, or look whether
// that can be done.
type trusting struct {
	Trust []string `placeholder:"ROLE" help:"Let this role own and make what the table uses, like the configuration's trust; several: by commas."`
}

var errTrusts = &usageError{errors.New(`--trust goes with a connection string: in a file, "trust" says so for each target`)}

// file is the configuration, or that of the connection string, with the warning about a password in
// sight.
func (c *checkCommand) file() (file *conf.File, warning string, err error) {
	switch {
	case c.Config != "" && c.DSN != "":
		return nil, "", &usageError{errors.New("check takes --config FILE or a connection string, not both")}
	case c.Config == "" && c.DSN == "":
		return nil, "", &usageError{errors.New("check needs --config FILE, or a connection string")}
	case c.Config != "" && len(c.Trust) > 0:
		return nil, "", errTrusts
	case c.DSN != "":
		target, err := conf.Single(c.DSN)
		target.Trust = c.Trust
		return &conf.File{Targets: []work.Target{target}}, conf.ExposedDSN(c.DSN), err
	}
	if file, err = conf.Read(c.Config); err != nil {
		return nil, "", err
	}
	if warning = file.Exposed(c.Config); warning != "" {
		warning = c.Config + ": " + warning
	}
	return file, warning, nil
}

// Run reports each thing that run would do, and each thing that keeps it from that, a line each.
func (c *checkCommand) Run(ctx context.Context, p *program) error {
	file, warning, err := c.file()
	if err != nil {
		return err
	}
	if warning != "" {
		printLine(p.stderr, "warning: %s", warning)
	}
	if len(file.Targets) == 0 {
		printLine(p.stdout, "no targets: run would have nothing to do")
	}
	reports := make([]work.Report, len(file.Targets))
	for i, target := range file.Targets {
		reports[i] = work.Check(ctx, target)
	}
	failed := false
	for i, target := range file.Targets {
		where := fmt.Sprintf("targets[%d] %s", i, target.Name())
		for _, line := range reports[i].Lines {
			printLine(p.stdout, "%s: %s", where, line)
		}
		for _, note := range reports[i].Notes {
			printLine(p.stdout, "%s: %s", where, note)
		}
		for _, doubt := range reports[i].Doubts {
			printLine(p.stderr, "warning: %s: %s", where, doubt)
		}
		for _, fault := range append(reports[i].Faults, doubled(reports[:i], reports[i])...) {
			failed = true
			printLine(p.stderr, "%s: %s", where, fault)
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// doubled is the fault of a table that an earlier target has, by another name, as a partition or as
// a child.
func doubled(before []work.Report, r work.Report) []string {
	for i, other := range slices.Backward(before) {
		switch {
		case r.Table == "" || other.Table == "":
		case r.Table == other.Table:
			return []string{fmt.Sprintf("serves the table of targets[%d]", i)}
		case slices.Contains(r.Above, other.Table), slices.Contains(other.Above, r.Table):
			return []string{fmt.Sprintf("the table is a partition or child of that of targets[%d], or the other way round: serve only one of them", i)}
		}
	}
	return nil
}
