package main

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/moving"
	"pgtaskd/moving/pgagent"
	"pgtaskd/moving/pgcron"
	"pgtaskd/moving/timetable"
	"pgtaskd/sql"
	"pgtaskd/work"
	"pgtaskd/work/install"
)

type importCommand struct {
	PgCron    importPgCronCommand    `cmd:"" name:"pg_cron" help:"Print the jobs of the extension pg_cron as a file for apply, or insert them; list what cannot be carried over."`
	PgAgent   importPgAgentCommand   `cmd:"" name:"pgagent" help:"Print the jobs of pgAgent as a file for apply, or insert them; list what cannot be carried over."`
	Timetable importTimetableCommand `cmd:"" name:"pg_timetable" help:"Print the chains of pg_timetable as a file for apply, or insert them; list what cannot be carried over."`
}

// importFlags are the flags of every import.
type importFlags struct {
	tableFlags

	Insert bool `help:"Make them jobs of the table, with the other scheduler as owner. Without it nothing is changed."`
}

type importPgCronCommand struct {
	importFlags

	Database string `placeholder:"NAME" help:"Whose jobs: those that run in this database; the connection's by default."`
	User     string `placeholder:"NAME" help:"Whose jobs: those that run as this role; the connection's by default."`
}

// Run prints the jobs, or inserts them.
func (c *importPgCronCommand) Run(ctx context.Context, p *program) error {
	if c.Insert && (c.Database != "" || c.User != "") {
		return &usageError{errors.New("--insert goes with the connection's own database and role: print a file without it, and apply that where it belongs")}
	}
	return c.move(ctx, p, "pg_cron", pgcron.Stop, func(conn *pgx.Conn, _ sql.Table) ([]moving.Job, moving.Notes, error) {
		place, found, err := pgcron.Read(ctx, conn, c.Trust)
		jobs, notes := pgcron.Convert(place, found,
			pgcron.Choice{Database: cmp.Or(c.Database, place.Database), User: cmp.Or(c.User, place.User)})
		return jobs, notes, err
	})
}

type importPgAgentCommand struct {
	importFlags

	Database string `placeholder:"NAME" help:"Which jobs: those whose steps run in this database; the connection's by default."`
}

// Run prints the jobs, or inserts them.
func (c *importPgAgentCommand) Run(ctx context.Context, p *program) error {
	if c.Insert && c.Database != "" {
		return &usageError{errors.New("--insert goes with the connection's own database: print a file without it, and apply that where it belongs")}
	}
	return c.move(ctx, p, "pgagent", pgagent.Stop, func(conn *pgx.Conn, table sql.Table) ([]moving.Job, moving.Notes, error) {
		place, found, err := pgagent.Read(ctx, conn, c.Trust)
		jobs, notes := pgagent.Convert(place, found,
			pgagent.Choice{Database: cmp.Or(c.Database, place.Database), Table: table.String()})
		return jobs, notes, err
	})
}

type importTimetableCommand struct{ importFlags }

// Run prints the jobs, or inserts them.
func (c *importTimetableCommand) Run(ctx context.Context, p *program) error {
	return c.move(ctx, p, "pg_timetable", timetable.Stop, func(conn *pgx.Conn, table sql.Table) ([]moving.Job, moving.Notes, error) {
		place, found, err := timetable.Read(ctx, conn, c.Trust)
		jobs, notes := timetable.Convert(place, found, table.String())
		return jobs, notes, err
	})
}

// move prints the jobs of another scheduler, or inserts them, and lists everything that is not
// carried over. At last it shows how to stop there the jobs that run here.
func (f importFlags) move(ctx context.Context, p *program, owner string, stop func(ids []string) string, read func(*pgx.Conn, sql.Table) ([]moving.Job, moving.Notes, error)) error {
	target, err := f.target(p)
	if err != nil {
		return err
	}
	return with(ctx, target, func(conn *pgx.Conn, table sql.Table) error {
		jobs, notes, err := read(conn, table)
		if err != nil {
			return err
		}
		for _, note := range notes.All {
			printLine(p.stderr, "%s", note)
		}
		text := moving.YAML(jobs)
		if f.Insert {
			err = f.insert(ctx, p, conn, table, target, owner, text)
		} else {
			_, err = io.WriteString(p.stdout, text)
		}
		if ids := moving.Running(jobs); err == nil && len(ids) > 0 {
			printLine(p.stderr, "-- When these jobs run here, stop them in %s, in database %q (true instead of false resumes them):", owner, conn.Config().Database)
			_, err = io.WriteString(p.stderr, stop(ids)+"\n")
		}
		return err
	})
}

// insert applies the text of a file to the table.
func (importFlags) insert(ctx context.Context, p *program, conn *pgx.Conn, table sql.Table, target work.Target, owner, text string) error {
	wanted, err := apply.ReadText(owner, text, target.DataLimit)
	if err != nil {
		return err
	}
	if err := install.Admit(ctx, conn, target); err != nil {
		return err
	}
	result, err := apply.Run(ctx, conn, table, wanted, apply.Options{Owner: owner, Inserter: target.Inserter})
	if err == nil {
		p.showResult(result, "")
	}
	return err
}
