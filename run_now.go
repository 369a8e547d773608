package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/sql"
)

type runNowCommand struct {
	Key string `arg:"" help:"The job's key."`

	tableFlags
}

// Run inserts a copy of the job that runs now, and prints its id.
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
