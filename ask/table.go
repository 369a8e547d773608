package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work"
)

// table is a task table that somebody asks about. It belongs to one goroutine.
type table struct {
	target  work.Target
	name    sql.Table
	conn    *pgx.Conn
	queries sql.Queries
	facts
}

// facts are what has to be known of a table before it is asked.
type facts struct {
	kind      string // of relation
	role      string // ours, quoted
	superuser bool
	usage     bool // of the schema, is ours
	reads     bool // we may
	changes   bool // we may, the state
	complete  bool // it has the columns that are asked for
	leaders   bool // there is a table of controllers that we may read
	why       bool // there is a function that says why a task waits
	groups    bool // there is a table of groups
}

// use is what a table is opened for.
type use int

const (
	reads use = iota
	changesTasks
	changesGroups
)

// open connects to a target and looks at its table. The caller closes it.
func open(ctx context.Context, t work.Target, command string, purpose use) (*table, error) {
	conn, err := work.Ask(ctx, t, "pgtaskd "+command, purpose != reads)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	b, err := look(ctx, conn, t, purpose)
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return b, nil
}

// look finds out whether a session can ask about the target's table.
func look(ctx context.Context, conn *pgx.Conn, t work.Target, purpose use) (*table, error) {
	b := &table{target: t, name: sql.Table{Schema: t.Schema, Name: t.Table}, conn: conn}
	b.queries = sql.Asking(b.name)
	row := conn.QueryRow(ctx, b.queries.Text("facts"), t.Schema, t.Table, sql.LeadersName(b.name),
		sql.WhyName(b.name), sql.GroupsName(b.name))
	f := &b.facts
	err := row.Scan(&f.kind, &f.role, &f.superuser, &f.usage, &f.reads, &f.changes, &f.complete, &f.leaders, &f.why, &f.groups)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("table %s is not there: pgtaskd run makes it, and pgtaskd check says what is in the way", b.name)
	case err != nil:
		return nil, err
	}
	if err := b.refuse(purpose); err != nil {
		return nil, err
	}
	if err := b.trusted(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// refuse is an error where the table cannot be asked, or changed.
func (b *table) refuse(purpose use) error {
	schema := pgx.Identifier{b.name.Schema}.Sanitize()
	state := "(state)"
	var grants []string
	if !b.usage {
		grants = append(grants, "GRANT USAGE ON SCHEMA "+schema+" TO "+b.role)
	}
	if !b.reads && purpose != changesGroups {
		grants = append(grants, "GRANT SELECT ON TABLE "+b.name.Quoted()+" TO "+b.role)
	}
	if purpose == changesTasks && !b.changes {
		grants = append(grants, "GRANT UPDATE "+state+" ON TABLE "+b.name.Quoted()+" TO "+b.role)
	}
	switch {
	case b.kind != "r" && b.kind != "p":
		return fmt.Errorf("%s is not a table", b.name)
	case len(grants) > 0:
		return fmt.Errorf("role %s lacks rights; let the owner run: %s", b.role, strings.Join(grants, "; "))
	case !b.complete:
		return fmt.Errorf("table %s lacks columns: pgtaskd run adds them, and pgtaskd schema prints how", b.name)
	}
	return nil
}

// trusted is an error where a superuser would run, with all rights, what somebody else has made: a
// change calls the table's triggers, and to read it can call casts, and functions of its indexes.
func (b *table) trusted(ctx context.Context) error {
	if !b.superuser {
		return nil
	}
	_, err := sql.Describe(ctx, b.conn, b.name)
	if u := new(sql.Untrusted); errors.As(err, &u) {
		o := u.Objects[0]
		return fmt.Errorf("%s %s belongs to role %s, whose code it could run with all rights of role %s, a superuser: ask as that role (user=%[3]s in the connection string), or by --config FILE",
			strings.ToLower(o.Kind), o.Name, o.Owner, b.role)
	}
	return err
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
