package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work"
	"pgtaskd/work/control"
	"pgtaskd/work/install"
)

// closeLimit is how long closing a connection may take.
const closeLimit = time.Second

// table is a task table that a command asks about. It belongs to one goroutine.
type table struct {
	target  work.Target
	name    sql.Table
	conn    *pgx.Conn
	queries sql.Queries
	leaders bool // there is a table of controllers that we may read
	why     bool // there is a function that says why a task waits
}

// use is the purpose of opening a table.
type use int

const (
	reads use = iota
	changesTasks
	changesGroups
)

// refusal is the error of a table that cannot be asked as it is. The door has another error.
type refusal struct{ error }

// open connects to a target and admits its table. The caller closes it.
func open(ctx context.Context, t work.Target, command string, purpose use) (*table, error) {
	conn, err := control.Dial(ctx, t, "pgtaskd-"+command)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	b, err := admit(ctx, conn, t, purpose)
	if err != nil {
		hangUp(conn)
	}
	return b, err
}

// admit checks that the session may ask about the table, and that this runs no code of an untrusted
// role. Until then it reads catalogs only.
func admit(ctx context.Context, conn *pgx.Conn, t work.Target, purpose use) (*table, error) {
	b := &table{target: t, name: t.Relation(), conn: conn}
	b.queries = sql.NewQueries("ask", map[string]string{
		":table": b.name.String(), ":reads": "$3::bool", ":stops": "$4::bool",
		":leaders": sql.Beside(b.name, "leader"), ":leaders_text": sql.Literal(sql.BesideName(b.name, "leader")),
		":groups": sql.Beside(b.name, "group"), ":groups_text": sql.Literal(sql.BesideName(b.name, "group")),
		":why": sql.Beside(b.name, "why"), ":why_text": sql.Literal(sql.BesideName(b.name, "why")),
	})
	if err := b.find(ctx, purpose); err != nil {
		return nil, err
	}
	return b, install.Admit(ctx, conn, t)
}

// find looks at the table. It fails if the table cannot be asked or changed.
func (b *table) find(ctx context.Context, purpose use) error {
	var kind string
	var denied *string
	var complete, groups bool
	err := b.conn.QueryRow(ctx, b.queries.Text("facts"), b.name.Schema, b.name.Name, purpose != changesGroups, purpose == changesTasks).
		Scan(&kind, &denied, &complete, &b.leaders, &b.why, &groups)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = fmt.Errorf("table %s is not there: pgtaskd run makes it, and pgtaskd check says what is in the way", b.name)
	case err != nil:
		return err
	case kind != "r" && kind != "p":
		err = fmt.Errorf("%s is not a table", b.name)
	case denied != nil:
		err = errors.New(*denied)
	case !complete:
		err = fmt.Errorf("table %s lacks columns: pgtaskd run adds them, and pgtaskd schema prints how", b.name)
	case purpose == changesGroups && !groups:
		err = fmt.Errorf("there is no table %s: pgtaskd run makes it, and its log says what is in the way", sql.Beside(b.name, "group"))
	default:
		return nil
	}
	return refusal{err}
}

// look reads the table in a read-only transaction: code that runs there cannot write, whatever it
// sets.
func (b *table) look(ctx context.Context, do func() error) error {
	return pgx.BeginTxFunc(ctx, b.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(pgx.Tx) error { return do() })
}

func (b *table) close() { hangUp(b.conn) }

func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_ = conn.Close(ctx)
}

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
func one(ctx context.Context, t work.Target, command string, purpose use, do func(*table) error) error {
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
	names := ""
	for _, t := range targets {
		names += "\n  " + t.Name()
	}
	return work.Target{}, fmt.Errorf("there are several targets: choose one with --target:%s", names)
}
