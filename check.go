package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"pgtaskd/ask"
	"pgtaskd/routine"
	"pgtaskd/work"
	"pgtaskd/work/install"
)

// atOnce is how many targets are checked at the same time.
const atOnce = 8

type checkCommand struct{ served }

// Run prints a line for each thing that run would do, and for each that would stop it.
func (c *checkCommand) Run(ctx context.Context, p *program) error {
	if err := c.usage(); err != nil {
		return err
	}
	file, err := p.file(c.Config, c.DSN, "", c.Trust)
	if err != nil {
		return err
	}
	if err := file.Servable(); err != nil {
		return err
	}
	if warning := file.HTTP.Closed(); warning != "" {
		printLine(p.stderr, "warning: %s", warning)
	}
	if len(file.Targets) == 0 {
		printLine(p.stdout, "no targets: run would have nothing to do")
	}
	reports := make([]install.Report, len(file.Targets))
	looks, next, checks := routine.New(ctx), atomic.Int64{}, work.Checks{}
	for range atOnce {
		looks.Go(func() {
			k := checks.Checker()
			defer k.Close()
			for i := next.Add(1) - 1; i < int64(len(reports)); i = next.Add(1) - 1 {
				reports[i] = k.Check(ctx, file.Targets[i])
			}
		})
	}
	looks.Wait()
	if p := looks.Panicked(); p != nil {
		return p
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
	p.remotes(reports)
	if failed {
		return ask.ErrFailed
	}
	return nil
}

// doubled returns the fault of a table that an earlier target serves, under another name, as a
// partition or as a child.
func doubled(before []install.Report, r install.Report) []string {
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

// remotes prints what the remotes of all targets promise, each once.
func (p *program) remotes(reports []install.Report) {
	var said []install.Remote
	for _, report := range reports {
		for _, r := range report.Remotes {
			switch {
			case slices.Contains(said, r):
			case r.Away:
				printLine(p.stderr, "warning: %s", r.Text)
			default:
				printLine(p.stdout, "%s", r.Text)
			}
			said = append(said, r)
		}
	}
}
