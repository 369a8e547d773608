package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

// configured adds the defaults that the configuration asks for and the table lacks.
func (m *missing) configured(ctx context.Context, conn *pgx.Conn, defaults map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if err := m.configure(ctx, conn, name, defaults[name]); err != nil {
			return fmt.Errorf("default of column %s: %w", name, err)
		}
	}
	return nil
}

// A constant, as the catalog shows it: '1 day'::interval, 5, '-5'::integer, true,
// ('a'::text)::"char". Nothing else is evaluated here: a type with a schema in front is not built
// in, and could run somebody's code.
var constant = regexp.MustCompile(`^\(*('(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false)\)*(::[\w" \[\]]+\)*)*$`)

func (m *missing) configure(ctx context.Context, conn *pgx.Conn, name, value string) error {
	column, err := m.settable(name)
	if err != nil {
		return err
	}
	if strings.Contains(value, "\x00") || column.Type == `"char"` && len(value) > 1 {
		return fmt.Errorf("%q is not a valid %s", value, column.Type)
	}
	if strings.Contains(column.Type, ".") {
		return fmt.Errorf("its type %s is not built in, and could run somebody else's code: as the table's owner, %s", column.Type, setDefault(m.table, name, sql.Literal(value)))
	}
	def := "NULL"
	if constant.MatchString(column.Default) {
		def = column.Default
	}
	var same bool
	query := fmt.Sprintf("SELECT coalesce((%s)::text = (%s::%s)::text, false)", def, sql.Literal(value), column.Cast)
	err = conn.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&same)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code[:2] == "22":
		return fmt.Errorf("%q is not a valid %s: %w", value, column.Type, err)
	case err != nil:
		return err
	case !same:
		m.change("default of column "+name, setDefault(m.table, name, sql.Literal(value))+";")
	}
	return nil
}

// settable returns a column that may have a configured default.
func (m *missing) settable(name string) (column foundColumn, err error) {
	i := slices.IndexFunc(wantedColumns(), func(c wantedColumn) bool { return c.name == name })
	there := m.column(name)
	switch {
	case i < 0 && there == nil && name != "id":
		return column, errors.New("no such column")
	case name == "author" || slices.Contains(notCopied, name),
		i >= 0 && wantedColumns()[i].generated,
		there != nil && (there.Generated || there.Identity):
		return column, errors.New("cannot be set")
	case there != nil:
		return *there, nil
	default:
		typ := wantedColumns()[i].typ
		return foundColumn{Name: name, Type: typ, Cast: typ}, nil
	}
}
