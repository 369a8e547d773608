package demo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/remote"
)

const (
	connectLimit = 10 * time.Second
	queryLimit   = 5 * time.Second
	mostTasks    = 1000 // the newest are enough
	longestText  = 400  // characters: more than a line shows
)

// table is the demo's own connection to public.task. It belongs to one goroutine.
type table struct {
	settings remote.Settings
	conn     *pgx.Conn
	version  string // of the server
	last     int64  // id of the last task before the demo
}

// task is a row as far as the demo shows it. A nil time is NULL.
type task struct {
	id, parent                   int64 // parent 0: none
	group, state                 string
	plan, created, start, stop   *time.Time
	repeats                      bool
	input, output, error, notice string
	seen                         time.Time // the server's clock at the look
}

func open(ctx context.Context, settings remote.Settings) (*table, error) {
	conn, err := connect(ctx, settings)
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), " ")
	return &table{settings: settings, conn: conn, version: version}, nil
}

// connect opens a connection with the search path that the examples need.
func connect(ctx context.Context, settings remote.Settings) (*pgx.Conn, error) {
	own, err := remote.Own(settings)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.Config = *own
	config.RuntimeParams["application_name"] = "pgtaskd demo"
	config.RuntimeParams["search_path"] = "public"
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	return pgx.ConnectConfig(ctx, config)
}

// execute runs statements on a new connection.
func execute(ctx context.Context, settings remote.Settings, statements ...string) error {
	conn, err := connect(ctx, settings)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) close() {
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	_ = t.conn.Close(ctx) // the connection ends either way
}

// use calls do with a connection, a new one if the last was lost.
func (t *table) use(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	if t.conn.IsClosed() {
		conn, err := connect(ctx, t.settings)
		if err != nil {
			return err
		}
		t.conn = conn
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	return do(ctx, t.conn)
}

// refused tells whether the server has refused a statement; else it is unreachable.
func (t *table) refused(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && !t.conn.IsClosed()
}

func (t *table) installed(ctx context.Context) (there bool, err error) {
	err = t.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query("installed")).Scan(&there)
	})
	return there, err
}

// begin records the last id before the demo's tasks: older tasks are not shown.
func (t *table) begin(ctx context.Context) error {
	return t.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query("last")).Scan(&t.last)
	})
}

// insert inserts the tasks of an example and returns their ids.
func (t *table) insert(ctx context.Context, e example) (ids []int64, err error) {
	err = t.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, e.sql()) // CollectRows returns its error
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return ids, err
}

// tasks returns the newest tasks since begin, oldest first.
func (t *table) tasks(ctx context.Context) (tasks []task, err error) {
	err = t.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, query("tasks"), t.last, mostTasks, longestText) // CollectRows returns its error
		tasks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r task, err error) {
			err = row.Scan(&r.id, &r.parent, &r.group, &r.state, &r.plan, &r.created, &r.start, &r.stop, &r.repeats,
				&r.input, &r.output, &r.error, &r.notice, &r.seen)
			return r, err
		})
		return err
	})
	return tasks, err
}

// stop stops tasks, and repetitions that they have made a moment ago.
func (t *table) stop(ctx context.Context, ids []int64) error {
	return t.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, query("stop"), ids)
		return err
	})
}
