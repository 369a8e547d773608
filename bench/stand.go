package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"time"

	"pgtaskd/server"
)

// settings are those of a small production server; durability is as PostgreSQL's defaults have it.
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

// stand is where rows are measured: a server, a task table, and a controller if the row needs one.
type stand struct {
	options
	effort
	out        io.Writer // for figures
	progress   io.Writer // for lines about the current work
	server     *server.Server
	controller controller

	db    *database
	all   []*database // databases to close
	river *stand      // a stand with River's tables; nil: not made yet
	kept  bool        // the rows of the task table stay there
	cost  cost        // of each task, or transaction of pgbench, measured last
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
	if s.db, err = createDatabase(ctx, s.server, "bench"); err != nil {
		return s, err
	}
	s.all = append(s.all, s.db)
	return s, s.furnish(ctx)
}

// in returns a stand on the same server, in a new database. s closes it.
func (s *stand) in(ctx context.Context, database string) (*stand, error) {
	other := *s
	var err error
	if other.db, err = createDatabase(ctx, s.server, database); err != nil {
		return nil, err
	}
	s.all = append(s.all, other.db)
	return &other, nil
}

// another returns a stand in another database, whose tasks stay there from row to row.
func (s *stand) another(ctx context.Context, database string) (*stand, error) {
	other, err := s.in(ctx, database)
	if err != nil {
		return nil, err
	}
	other.kept = true
	return other, other.furnish(ctx)
}

// furnish makes the task table, and the other objects that the rows need.
func (s *stand) furnish(ctx context.Context) error {
	if err := s.db.install(ctx, "task"); err != nil {
		return err
	}
	return s.setUp(ctx)
}

// setUp makes the other objects that the rows need.
func (s *stand) setUp(ctx context.Context) error {
	setup := text("setup.sql")
	if s.statements {
		setup += "CREATE EXTENSION pg_stat_statements;"
	}
	return s.db.execute(ctx, setup)
}

// empty empties the tables, unless the stand's tasks are to stay.
func (s *stand) empty(ctx context.Context) error {
	if s.kept {
		return nil
	}
	return s.db.execute(ctx, text("empty.sql"))
}

func (s *stand) close() error {
	var errs []error
	for _, db := range s.all {
		errs = append(errs, db.close())
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	if s.controller != nil {
		errs = append(errs, s.controller.close())
	}
	return errors.Join(errs...)
}

// machine describes the machine that gave the figures.
func (s *stand) machine(ctx context.Context) string {
	version := "?"
	_ = s.db.conn.QueryRow(ctx, "SHOW server_version").Scan(&version) // only decoration
	return fmt.Sprintf("%s, %d cores (%s/%s, %s), PostgreSQL %s, median of %d",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, s.rounds)
}
