package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/control"
)

// table is a task table that a command asks about. It belongs to one goroutine.
type table struct {
	*rows.Table
	conn    *pgx.Conn
	queries sql.Queries
}

// open connects to a target and admits its table. The caller closes it.
func open(ctx context.Context, t work.Target, command string, purpose rows.Purpose) (*table, error) {
	conn, err := control.Dial(ctx, t, "pgtaskd-"+command)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	b, err := admit(ctx, conn, t, purpose)
	if err != nil {
		control.HangUp(conn)
	}
	return b, err
}

// admit is rows.Admit: with an error it may return the table, too.
func admit(ctx context.Context, conn *pgx.Conn, t work.Target, purpose rows.Purpose) (*table, error) {
	b, err := rows.Admit(ctx, conn, t, purpose)
	if b == nil {
		return nil, err
	}
	return &table{b, conn, b.Queries("ask")}, err
}

// look reads the table in a read-only transaction with one snapshot: code that runs there cannot
// write, whatever it sets.
func (b *table) look(ctx context.Context, do func() error) error {
	return pgx.BeginTxFunc(ctx, b.conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(pgx.Tx) error { return do() })
}

func (b *table) close() { control.HangUp(b.conn) }

// lost reports whether the connection is broken or the server shuts down.
func (b *table) lost(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return b.conn.IsClosed() || strings.HasPrefix(answer.Code, "57P")
	}
	return err != nil
}

// ErrFailed is the error of a command that has already written everything there is to say.
var ErrFailed = errors.New("failed")

// one opens a target, and closes it after do.
func one(ctx context.Context, t work.Target, command string, purpose rows.Purpose, do func(*table) error) error {
	b, err := open(ctx, t, command, purpose)
	if err != nil {
		return err
	}
	defer b.close()
	return do(b)
}

// only returns the only target.
func only(targets []work.Target) (work.Target, error) {
	if len(targets) == 1 {
		return targets[0], nil
	}
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Name()
	}
	return work.Target{}, fmt.Errorf("there are several targets: choose one with --target: %s", strings.Join(names, ", "))
}
