package rows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
	"pgtaskd/work/install"
)

// Table is a target's table inside a transaction.
type Table struct {
	Target work.Target
	Name   sql.Table
	Zone   string // the target's time zone

	conn     *pgx.Conn
	tx       pgx.Tx // the transaction
	names    map[string]string
	queries  sql.Queries
	beside   []string  // names of the objects beside it that may be used
	admitted time.Time // when the door let it in
}

// Errors that a person can do something about.
var (
	errBusy = errors.New("the page's two sessions on this server are busy: try again")
	// ErrSlow: a statement took too long.
	ErrSlow   = errors.New("the server did not answer in time")
	errLocked = errors.New("somebody has locked the table: pg_locks says who")
)

// Purpose is what a session is for. It needs rights for that.
type Purpose int

// The purposes of sessions. The page has what it needs to read, and learns from the server what it
// may change.
const (
	Reads Purpose = iota
	ChangesTasks
	ChangesGroups // it reads no task
)

// Refusal is the error of a table that cannot be asked as it is. The door has another error.
type Refusal struct{ error }

// Admit checks that the session may ask about the table, and that this runs no code of an untrusted
// role. Until then it reads catalogs only. With an error it may return the table, too, for questions
// about catalogs.
func Admit(ctx context.Context, conn *pgx.Conn, t work.Target, purpose Purpose) (*Table, error) {
	b := &Table{Target: t, Name: t.Relation(), conn: conn, admitted: time.Now()}
	b.names = map[string]string{
		":table": b.Name.String(), ":page_group": `t."group"`, ":page_since": "t.plan",
		":reads": strconv.FormatBool(purpose != ChangesGroups), ":stops": strconv.FormatBool(purpose == ChangesTasks),
	}
	for _, object := range sql.Objects {
		b.names[":its_"+object] = sql.Beside(b.Name, object)
	}
	b.queries = b.Queries("page")
	var kind, denied string
	var complete bool
	var columns []string
	err := conn.QueryRow(ctx, b.queries.Text("facts"), b.Name.Schema, b.Name.Name, sql.BesideNames(b.Name)).
		Scan(&kind, &denied, &complete, &columns, &b.Zone, &b.beside)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = fmt.Errorf("table %s is not there: pgtaskd run makes it, and pgtaskd check says what is in the way", b.Name)
	case err != nil:
		return nil, err
	case kind != "r" && kind != "p":
		err = fmt.Errorf("%s is not a table", b.Name)
	case denied != "":
		err = errors.New(denied)
	case !complete:
		err = fmt.Errorf("table %s lacks columns: pgtaskd run adds them unless create is false, and pgtaskd schema prints how", b.Name)
	default:
		sql.Without(b.names, schema.Absent(func(name string) bool { return slices.Contains(columns, name) }))
		b.queries = b.Queries("page")
		b.Zone = cmp.Or(t.TimeZone, b.Zone)
		return b, install.Admit(ctx, conn, t)
	}
	return b, Refusal{err}
}

// Queries are the statements of a folder of sql for this table.
func (b *Table) Queries(folder string) sql.Queries { return sql.NewQueries(folder, b.names) }

// Has reports whether an object beside the table may be used: one of sql.Objects.
func (b *Table) Has(object string) bool {
	return slices.Contains(b.beside, sql.BesideName(b.Name, object))
}

// Beside is the name of an object beside the table.
func (b *Table) Beside(object string) string { return sql.BesideName(b.Name, object) }

// Tx returns the transaction, for package edit.
func (b *Table) Tx() pgx.Tx { return b.tx }

// Statement returns a statement of sql/page with more words replaced than those of all pages.
func (b *Table) Statement(name string, more map[string]string) string {
	names := maps.Clone(b.names)
	maps.Copy(names, more)
	return sql.Named(sql.File("page/"+name), names)
}

// list returns the rows of a statement of sql/page. Fields of T have the names of its columns (as
// the tag db says).
func list[T any](ctx context.Context, b *Table, statement string, args ...any) ([]T, error) {
	rows, err := b.conn.Query(ctx, b.queries.Text(statement), args...)
	if err != nil {
		return nil, slow(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return found, slow(err)
}

// slow turns the error of a statement that took too long into ErrSlow, or into errLocked.
func slow(err error) error {
	var answer *pgconn.PgError
	switch {
	case !errors.As(err, &answer):
	case answer.Code == "57014":
		return ErrSlow
	case answer.Code == "55P03":
		return errLocked
	}
	return err
}
