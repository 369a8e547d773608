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

	"pgtaskd/server"
	"pgtaskd/sql"
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

// settings are those of a small production server; all that concerns durability is as PostgreSQL
// has it.
var settings = map[string]string{
	"fsync":              "on",
	"synchronous_commit": "on",
	"shared_buffers":     "256MB",
	"max_connections":    "500",
}

var statementSettings = map[string]string{
	"shared_preload_libraries":          "pg_stat_statements",
	"pg_stat_statements.track_planning": "on",
}

// stand is what all rows are measured on: a server, a task table, and a controller when one is
// wanted.
type stand struct {
	options
	effort
	out        io.Writer // for figures
	progress   io.Writer // for what is being done
	server     *server.Server
	controller controller

	database string
	conn     *pgx.Conn
	river    *stand      // with River's tables; nil: not made yet
	kept     bool        // what is in the task table stays there
	conns    []*pgx.Conn // all that are to be closed
	cost     cost        // of each task, or transaction of pgbench, that was measured last
}

func openStand(ctx context.Context, o options, e effort, out, progress io.Writer) (s *stand, err error) {
	s = &stand{options: o, effort: e, out: out, progress: progress}
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
	return s, s.furnish(ctx, "bench")
}

// another is a stand on the same server, in a database of its own, whose tasks stay there from row
// to row. It is closed with s.
func (s *stand) another(ctx context.Context, database string) (*stand, error) {
	other := *s
	other.kept, other.conns = true, nil
	err := other.furnish(ctx, database)
	s.conns = append(s.conns, other.conns...)
	return &other, err
}

// create makes the stand's database, and connects to it.
func (s *stand) create(ctx context.Context, database string) error {
	admin, err := pgx.Connect(ctx, s.server.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+database)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return err
	}
	s.database = database
	s.conn, err = s.connect(ctx)
	return err
}

// furnish makes the database, its task table, and what the rows need beside it.
func (s *stand) furnish(ctx context.Context, database string) error {
	if err := s.create(ctx, database); err != nil {
		return err
	}
	if _, err := sql.Install(ctx, s.conn, sql.Table{Schema: "public", Name: "task"}, sql.Options{}); err != nil {
		return err
	}
	return s.setUp(ctx)
}

// setUp makes what the rows need beside the task table.
func (s *stand) setUp(ctx context.Context) error {
	setup := text("setup.sql")
	if s.statements {
		setup += "CREATE EXTENSION pg_stat_statements;"
	}
	return s.execute(ctx, setup)
}

// connect opens one more connection to the stand's database.
func (s *stand) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, s.server.DSN(s.database))
	if err == nil {
		s.conns = append(s.conns, conn)
	}
	return conn, err
}

// empty leaves nothing in the tables, unless the stand's tasks are to stay.
func (s *stand) empty(ctx context.Context) error {
	if s.kept {
		return nil
	}
	return s.execute(ctx, text("empty.sql"))
}

// execute runs one statement after the other, each in a transaction of its own.
func (s *stand) execute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (s *stand) close() error {
	var errs []error
	for _, conn := range s.conns {
		errs = append(errs, conn.Close(context.Background()))
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
