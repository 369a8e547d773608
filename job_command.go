package main

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/sql"
	"pgtaskd/work"
)

// tableFlags name the table whose jobs a command is about.
type tableFlags struct {
	Config string   `placeholder:"FILE" help:"The JSON configuration that has the table's target." xor:"where"`
	DSN    string   `name:"dsn" placeholder:"DSN" help:"Connection string of the table's database; the table is public.task unless --target says otherwise." xor:"where"`
	Target string   `placeholder:"DATABASE/SCHEMA/TABLE" help:"The target, where there are several; e.g. shop/public/task."`
	Trust  []string `placeholder:"ROLE" help:"Go on where tables are this role's too, whose code can then do all that your role may; several: by commas."`
}

// target finds the target, with whom it trusts, and warns of a password that others can see.
func (f tableFlags) target(p *program) (work.Target, error) {
	t, err := f.chosen(p)
	t.Trust = slices.Concat(t.Trust, f.Trust)
	return t, err
}

func (f tableFlags) chosen(p *program) (work.Target, error) {
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
		return work.Target{}, err
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

// admitted is with, and an error if the table could run code of somebody who is not trusted.
func admitted(ctx context.Context, t work.Target, do func(*pgx.Conn, sql.Table) error) error {
	return with(ctx, t, func(conn *pgx.Conn, table sql.Table) error {
		if err := work.Admit(ctx, conn, t); err != nil {
			return err
		}
		return do(conn, table)
	})
}
