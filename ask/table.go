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
	"pgtaskd/sql/schema"
	"pgtaskd/work"
	"pgtaskd/work/control"
	"pgtaskd/work/install"
)

// closeLimit is how long a server is given to say goodbye.
const closeLimit = time.Second

// table is a task table that somebody asks about. It belongs to one goroutine.
type table struct {
	target  work.Target
	name    sql.Table
	conn    *pgx.Conn
	queries sql.Queries
	facts
}

// facts must be known of a table before it is asked.
type facts struct {
	kind     string // of relation
	role     string // ours, quoted
	usage    bool   // of the schema, is ours
	reads    bool   // we may
	changes  bool   // we may, the state
	complete bool   // it has the columns that are asked for
	leaders  bool   // there is a table of controllers that we may read
	why      bool   // there is a function that says why a task waits
	groups   bool   // there is a table of groups
}

// use is the purpose for which a table is opened.
type use int

const (
	reads use = iota
	changesTasks
	changesGroups
)

// refusal is the error of a table that is not asked, as it is. Another is that of the door.
type refusal struct{ error }

// open connects to a target, and finds out whether the session can ask about its table, and whether
// that runs no code of somebody who is not trusted. Until then it reads catalogs alone. The caller
// closes it.
func open(ctx context.Context, t work.Target, command string, purpose use) (*table, error) {
	conn, err := control.Dial(ctx, t, "pgtaskd-"+command)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	b := &table{target: t, name: t.Relation(), conn: conn}
	b.queries = sql.NewQueries("ask", map[string]string{
		":table":   b.name.String(),
		":leaders": sql.Beside(b.name, "leader"), ":leaders_text": sql.Literal(sql.BesideName(b.name, "leader")),
		":groups": sql.Beside(b.name, "group"), ":groups_text": sql.Literal(sql.BesideName(b.name, "group")),
		":why": sql.Beside(b.name, "why"), ":why_text": sql.Literal(sql.BesideName(b.name, "why")),
	})
	err = b.find(ctx, purpose)
	if err == nil {
		err = install.Admit(ctx, conn, t)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// find looks at the table. It is an error where that cannot be asked.
func (b *table) find(ctx context.Context, purpose use) error {
	f := &b.facts
	err := b.conn.QueryRow(ctx, b.queries.Text("facts"), b.name.Schema, b.name.Name).
		Scan(&f.kind, &f.role, &f.usage, &f.reads, &f.changes, &f.complete, &f.leaders, &f.why, &f.groups)
	if errors.Is(err, pgx.ErrNoRows) {
		return refusal{fmt.Errorf("table %s is not there: pgtaskd run makes it, and pgtaskd check says what is in the way", b.name)}
	} else if err != nil {
		return err
	}
	if err := b.refuse(purpose); err != nil {
		return refusal{err}
	}
	return nil
}

// look only reads the table, in a transaction of its own: nothing that runs there can write,
// whatever it sets.
func (b *table) look(ctx context.Context, do func() error) error {
	return pgx.BeginTxFunc(ctx, b.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(pgx.Tx) error { return do() })
}

// refuse is an error where the table cannot be asked, or changed.
func (b *table) refuse(purpose use) error {
	reading := schema.Reading{Role: b.role, Usage: b.usage, Select: b.reads || purpose == changesGroups}
	grants := reading.Grants(b.name)
	if purpose == changesTasks && !b.changes {
		grants = append(grants, fmt.Sprintf("GRANT UPDATE (state) ON TABLE %s TO %s", b.name, b.role))
	}
	switch {
	case b.kind != "r" && b.kind != "p":
		return fmt.Errorf("%s is not a table", b.name)
	case len(grants) > 0:
		return reading.Denied(grants)
	case !b.complete:
		return fmt.Errorf("table %s lacks columns: pgtaskd run adds them, and pgtaskd schema prints how", b.name)
	case purpose == changesGroups && !b.groups:
		return fmt.Errorf("there is no table %s: pgtaskd run makes it, and its log says what is in the way", sql.Beside(b.name, "group"))
	}
	return nil
}

func (b *table) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_ = b.conn.Close(ctx)
}

// lost tells whether an error is that of a connection that is gone, or of a server that goes.
func (b *table) lost(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return b.conn.IsClosed() || strings.HasPrefix(answer.Code, "57P")
	}
	return err != nil
}
