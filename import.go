package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/pgcron"
	"pgtaskd/sql"
)

type importCommand struct {
	PgCron importPgCronCommand `cmd:"" name:"pg_cron" help:"Print the jobs of the extension pg_cron as a file for apply, or insert them; list what cannot be carried over."`
}

type importPgCronCommand struct {
	tableFlags

	Database string `placeholder:"NAME" help:"Whose jobs: those that run in this database; the connection's by default."`
	User     string `placeholder:"NAME" help:"Whose jobs: those that run as this role; the connection's by default."`
	Insert   bool   `help:"Make them jobs of the table, with pg_cron as owner. Without it nothing is changed."`
}

// Run prints what it would insert, or inserts it.
func (c *importPgCronCommand) Run(ctx context.Context, p *program) error {
	if c.Insert && (c.Database != "" || c.User != "") {
		return &usageError{errors.New("--insert goes with the connection's own database and role: print a file without it, and apply that where it belongs")}
	}
	target, err := c.target(p)
	if err != nil {
		return err
	}
	return with(ctx, target, func(conn *pgx.Conn, table sql.Table) error {
		place, found, err := pgcron.Read(ctx, conn)
		if err != nil {
			return err
		}
		jobs, notes := pgcron.Convert(place, found, pgcron.Choice{Database: cmp.Or(c.Database, place.Database), User: cmp.Or(c.User, place.User)})
		for _, note := range notes {
			printLine(p.stderr, "%s", note)
		}
		text := pgcron.YAML(jobs)
		if !c.Insert {
			_, err := io.WriteString(p.stdout, text)
			return err
		}
		read, err := apply.ReadText("pg_cron", text, target.DataLimit)
		if err != nil {
			return err
		}
		result, err := apply.Run(ctx, conn, table, read, apply.Options{Owner: "pg_cron"})
		if err == nil {
			(&applyCommand{}).show(p, result)
		}
		return err
	})
}
