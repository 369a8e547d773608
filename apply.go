package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/sql"
)

type applyCommand struct {
	Files []string `arg:"" name:"file" help:"Lists of jobs, in YAML or JSON."`
	Owner string   `required:"" placeholder:"NAME" help:"Whose jobs these are; kept in the column owner."`

	tableFlags

	Prune  bool `help:"Remove the owner's jobs that no file names."`
	DryRun bool `help:"Print what would change, and change nothing."`
}

// errDifferences is the error of a dry run that has found changes.
var errDifferences = errors.New("differences")

// Run changes the jobs of the table to those of the files.
func (c *applyCommand) Run(ctx context.Context, p *program) error {
	if c.Owner == "" || len(c.Owner) > 1<<10 || strings.Contains(c.Owner, "\x00") {
		return errors.New("--owner must be a name of at most 1 kB")
	}
	target, err := c.target(p)
	if err != nil {
		return err
	}
	jobs, err := apply.Read(c.Files, target.DataLimit)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		for _, doubt := range job.Doubts {
			printLine(p.stderr, "warning: %s", doubt)
		}
	}
	return admitted(ctx, target, func(conn *pgx.Conn, table sql.Table) error {
		result, err := apply.Run(ctx, conn, table, jobs, apply.Options{Owner: c.Owner, Prune: c.Prune, DryRun: c.DryRun, Inserter: target.Inserter})
		if err != nil {
			return err
		}
		dry := ""
		if c.DryRun {
			dry = "dry run, nothing is changed: "
		}
		p.showResult(result, dry)
		if c.DryRun && len(result.Changes) > 0 {
			return errDifferences
		}
		return nil
	})
}

// showResult prints the changes, and remark before the last line.
func (p *program) showResult(r apply.Result, remark string) {
	counts := map[apply.Kind]int{}
	for _, change := range r.Changes {
		counts[change.Kind]++
		for _, line := range change.Lines() {
			printLine(p.stdout, "%s", line)
		}
	}
	for _, job := range r.Paused {
		printLine(p.stdout, "%s", job.Lines()[0])
	}
	for _, key := range r.Expired {
		printLine(p.stdout, "= %s (not begun: no run comes before its until)", key)
	}
	for _, key := range r.Unnamed {
		printLine(p.stdout, "= %s (in no file; --prune removes it)", key)
	}
	if len(r.Changes) == 0 {
		printLine(p.stdout, "nothing to do: %d unchanged", r.Unchanged)
		return
	}
	printLine(p.stdout, "%s%d new, %d changed, %d pruned, %d unchanged", remark,
		counts[apply.New], counts[apply.Changed], counts[apply.Pruned], r.Unchanged)
}

type runNowCommand struct {
	Key string `arg:"" help:"The job's key."`

	tableFlags
}

// Run inserts a copy of the job that runs at once, and prints its id.
func (c *runNowCommand) Run(ctx context.Context, p *program) error {
	target, err := c.target(p)
	if err != nil {
		return err
	}
	return admitted(ctx, target, func(conn *pgx.Conn, table sql.Table) error {
		id, err := apply.RunNow(ctx, conn, table, c.Key, target.Inserter)
		if err == nil {
			printLine(p.stdout, "%d", id)
		}
		return err
	})
}
