package main

import (
	"context"
	"embed"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

//go:embed sql/*.sql
var files embed.FS

// text returns an embedded statement or script.
func text(name string) string {
	content, err := files.ReadFile("sql/" + name)
	if err != nil {
		panic(err) // the name is a wrong constant
	}
	return string(content)
}

// database is a database on the stand's server, into which the bench inserts tasks.
type database struct {
	server *server.Server
	name   string
	conn   *pgx.Conn
	conns  []*pgx.Conn // connections to close, including conn
}

func createDatabase(ctx context.Context, s *server.Server, name string) (*database, error) {
	admin, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return nil, err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+name)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return nil, err
	}
	d := &database{server: s, name: name}
	d.conn, err = d.connect(ctx)
	return d, err
}

func (d *database) dsn() string { return d.server.DSN(d.name) }

func (d *database) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, d.dsn())
	if err == nil {
		d.conns = append(d.conns, conn)
	}
	return conn, err
}

func (d *database) close() error {
	var errs []error
	for _, conn := range d.conns {
		errs = append(errs, conn.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// execute runs statements one after the other, each in its own transaction.
func (d *database) execute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := d.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// target is the configuration's entry for a table of the database. It runs at most run tasks at
// once; 0: the default.
func (d *database) target(table string, run int) map[string]any {
	target := map[string]any{"data": d.name, "user": "postgres", "table": table}
	if run > 0 {
		target["run"] = run
	}
	return target
}

// install makes those of the task tables that do not exist.
func (d *database) install(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if _, err := schema.Install(ctx, d.conn, sql.Table{Schema: "public", Name: table}, schema.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// add inserts one task by the statement template, which returns its id, and copies it until there
// are count, in this many lanes (1: the task's own). It returns the last id before them.
func (d *database) add(ctx context.Context, template string, count, lanes int) (last int64, err error) {
	if last, err = d.last(ctx); err != nil || count == 0 {
		return last, err
	}
	var id int64
	if err := d.conn.QueryRow(ctx, text(template)).Scan(&id); err != nil {
		return last, err
	}
	_, err = d.conn.Exec(ctx, text("multiply.sql"), id, count-1, lanes)
	return last, err
}

// settle leaves no work for vacuum or a checkpoint.
func (d *database) settle(ctx context.Context) error {
	return d.execute(ctx, "VACUUM (ANALYZE) task", "CHECKPOINT")
}

// last returns the highest id of a task.
func (d *database) last(ctx context.Context) (id int64, err error) {
	err = d.conn.QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM task").Scan(&id)
	return id, err
}

func (d *database) now(ctx context.Context) (now time.Time, err error) {
	err = d.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	return now, err
}

const tick = 20 * time.Millisecond

// await asks until the answer is true.
func (d *database) await(ctx context.Context, question string, args ...any) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		var yes bool
		if err := d.conn.QueryRow(ctx, question, args...).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitEnd returns when no task above the id last waits or runs. It looks at the newest task first,
// which is cheap for the server.
func (d *database) awaitEnd(ctx context.Context, last int64) error {
	return d.await(ctx, text("ended.sql"), last)
}

const insert = "INSERT INTO task (input) VALUES ('SELECT 1')"

// first inserts a task and waits for its end, which shows that the controller leads.
func (d *database) first(ctx context.Context) error {
	if err := d.execute(ctx, insert); err != nil {
		return err
	}
	return d.awaitEnd(ctx, 0)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
