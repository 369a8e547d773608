package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/sql"
	"pgtaskd/work"
)

// tableFlags name the table whose jobs a command is about.
type tableFlags struct {
	Config string `placeholder:"FILE" help:"The JSON configuration that has the table's target." xor:"where"`
	DSN    string `name:"dsn" placeholder:"DSN" help:"Connection string of the table's database; the table is public.task unless --target says otherwise." xor:"where"`
	Target string `placeholder:"DATABASE/SCHEMA/TABLE" help:"The target, where there are several; e.g. shop/public/task."`
}

// target finds the target, and warns of a password that others can see.
func (f tableFlags) target(p *program) (work.Target, error) {
	switch {
	case f.Config == "" && f.DSN == "":
		return work.Target{}, errors.New("--config FILE or --dsn DSN must say where the table is")
	case f.DSN != "":
		if warning := conf.ExposedDSN(f.DSN); warning != "" {
			printLine(p.stderr, "warning: %s", warning)
		}
		return conf.SingleNamed(f.DSN, f.Target)
	}
	file, err := conf.Read(f.Config)
	if err != nil {
		return work.Target{}, named(f.Config, err)
	}
	if warning := file.Exposed(f.Config); warning != "" {
		printLine(p.stderr, "warning: %s: %s", f.Config, warning)
	}
	return file.Choose(f.Target)
}

// with does something with a session of the target's role.
func with(ctx context.Context, t work.Target, do func(*pgx.Conn, sql.Table) error) error {
	conn, err := work.Dial(ctx, t, "pgtaskd-jobs")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(conn, sql.Table{Schema: t.Schema, Name: t.Table})
}
