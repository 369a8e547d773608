package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtask/server"
	"pgtask/sql"
)

//go:embed sql/*.sql
var files embed.FS

// text is an embedded statement or script.
func text(name string) string {
	content, err := files.ReadFile("sql/" + name)
	if err != nil {
		panic(err) // the name is a constant, and wrong
	}
	return string(content)
}

const database = "bench"

// settings are those of a small production server; all that bears on durability is as PostgreSQL has it.
var settings = map[string]string{
	"fsync":              "on",
	"synchronous_commit": "on",
	"shared_buffers":     "256MB",
	"max_connections":    "200",
}

var statementSettings = map[string]string{
	"shared_preload_libraries":          "pg_stat_statements",
	"pg_stat_statements.track_planning": "on",
}

// stand is what all rows are measured on: a server, a task table, and a controller when one is wanted.
type stand struct {
	options
	effort
	out        io.Writer
	server     *server.Server
	conn       *pgx.Conn
	controller controller
}

func openStand(ctx context.Context, o options, e effort, out io.Writer) (s *stand, err error) {
	s = &stand{options: o, effort: e, out: out}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.controller, err = newController(ctx, o); err != nil {
		return s, err
	}
	all := maps.Clone(settings)
	if o.statements {
		maps.Copy(all, statementSettings)
	}
	if s.server, err = server.Start(ctx, server.Options{Settings: all}); err != nil {
		return s, err
	}
	return s, s.furnish(ctx)
}

// furnish makes the database, its task table, and what the rows need beside it.
func (s *stand) furnish(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, s.server.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+database)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return err
	}
	if s.conn, err = pgx.Connect(ctx, s.server.DSN(database)); err != nil {
		return err
	}
	if _, err := sql.Install(ctx, s.conn, sql.Table{Schema: "public", Name: "task"}, nil); err != nil {
		return err
	}
	setup := text("setup.sql")
	if s.statements {
		setup += "CREATE EXTENSION pg_stat_statements;"
	}
	_, err = s.conn.Exec(ctx, setup)
	return err
}

func (s *stand) close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close(context.Background()))
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	if s.controller != nil {
		errs = append(errs, s.controller.close())
	}
	return errors.Join(errs...)
}

// machine says where the figures come from.
func (s *stand) machine(ctx context.Context) string {
	version := "?"
	_ = s.conn.QueryRow(ctx, "SHOW server_version").Scan(&version) // it only decorates
	return fmt.Sprintf("%s, %d cores (%s/%s, %s), PostgreSQL %s, median of %d",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, s.rounds)
}
