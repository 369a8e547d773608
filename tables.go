package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work"
	"pgtaskd/work/control"
	"pgtaskd/work/install"
)

// served are the arguments of run and check.
type served struct {
	Config string   `placeholder:"FILE" predictor:"file" help:"JSON configuration: an array of targets, or an object with dsn, targets, remotes, log and http."`
	DSN    string   `arg:"" optional:"" help:"Connection string, or name, of the one database whose table public.task is served; PG* variables apply."`
	Trust  []string `placeholder:"ROLE" help:"Let this role own and make what the table uses, like the configuration's trust; several: by commas."`
}

// usage returns the error of wrong arguments.
func (c served) usage() error {
	if c.Config != "" && len(c.Trust) > 0 {
		return &usageError{errors.New(`--trust goes with a connection string: in a file, "trust" says so for each target`)}
	}
	return given(c.Config, c.DSN)
}

// given fails if the command line names no table, or names it in two ways.
func given(config, dsn string) error {
	switch {
	case config != "" && dsn != "":
		return &usageError{errors.New("give --config FILE or a connection string, not both")}
	case config == "" && dsn == "" && !remote.Placed():
		return &usageError{errors.New("give --config FILE, a connection string, or PGHOST, PGDATABASE or PGSERVICE in the environment")}
	}
	return nil
}

// file reads the configuration, or makes one with the target of a connection string. It adds the
// trusted roles, and warns of a password that others can see.
func (p *program) file(config, dsn, target string, trust []string) (file *conf.File, err error) {
	if err := given(config, dsn); err != nil {
		return nil, err
	}
	warning := ""
	if config != "" {
		if file, err = conf.Read(config); err != nil {
			return nil, err
		}
		if warning = file.Exposed(config); warning != "" {
			warning = config + ": " + warning
		}
	} else {
		warning = conf.ExposedDSN(dsn)
		file = &conf.File{Targets: make([]work.Target, 1)}
		file.Targets[0], err = conf.SingleNamed(dsn, target)
	}
	if warning != "" {
		printLine(p.stderr, "warning: %s", warning)
	}
	for i := range file.Targets {
		file.Targets[i].Trust = slices.Concat(file.Targets[i].Trust, trust)
	}
	return file, err
}

// scope selects the tables of a command.
type scope struct {
	Config string `placeholder:"FILE" predictor:"file" help:"The JSON configuration that run has." xor:"where"`
	Where  string `name:"dsn" placeholder:"DSN" help:"Connection string of the table's database, in place of a configuration; PG* variables apply." xor:"where"`
	Target string `placeholder:"DATABASE/SCHEMA/TABLE" help:"Only this target of the configuration; with a connection string, another table than public.task."`
}

// targets returns the targets of the command line, given by --config, --dsn or the argument dsn.
func (c scope) targets(p *program, dsn string, trust []string) ([]work.Target, error) {
	if err := given(c.Config+c.Where, dsn); err != nil {
		return nil, err
	}
	file, err := p.file(c.Config, cmp.Or(c.Where, dsn), c.Target, trust)
	switch {
	case err != nil:
		return nil, err
	case c.Target == "" && len(file.Targets) > 0:
		return file.Targets, nil
	}
	target, err := file.Choose(c.Target)
	return []work.Target{target}, err
}

// tableFlags select the table whose jobs a command uses.
type tableFlags struct {
	scope
	Trust []string `placeholder:"ROLE" help:"Go on where tables are this role's too, whose code can then do all that your role may; several: by commas."`
}

// target returns the target, with the trusted roles.
func (c tableFlags) target(p *program) (work.Target, error) {
	if c.Config == "" && c.Where == "" {
		return work.Target{}, errors.New("--config FILE or --dsn DSN must say where the table is")
	}
	file, err := p.file(c.Config, c.Where, c.Target, c.Trust)
	if err != nil {
		return work.Target{}, err
	}
	return file.Choose(c.Target)
}

// with calls do with a session of the target's role.
func with(ctx context.Context, t work.Target, do func(*pgx.Conn, sql.Table) error) error {
	conn, err := control.Dial(ctx, t, "pgtaskd-jobs")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(conn, sql.Table{Schema: t.Schema, Name: t.Table})
}

// admitted is like with, but fails if the table could run code of an untrusted role.
func admitted(ctx context.Context, t work.Target, do func(*pgx.Conn, sql.Table) error) error {
	return with(ctx, t, func(conn *pgx.Conn, table sql.Table) error {
		if err := install.Admit(ctx, conn, t); err != nil {
			return err
		}
		return do(conn, table)
	})
}
