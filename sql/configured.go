package sql

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
)

// configured adds the defaults that the configuration asks for and the table has not.
func (m *missing) configured(ctx context.Context, conn *pgx.Conn, defaults map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if err := m.configure(ctx, conn, name, defaults[name]); err != nil {
			return fmt.Errorf("default of column %s: %w", name, err)
		}
	}
	return nil
}

// A constant, as the catalog shows it: '1 day'::interval, 5, '-5'::integer, true, ('a'::text)::"char". Anything else is not evaluated here.
var constant = regexp.MustCompile(`^\(*(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false)\)*(?:::[\w". \[\]]+\)*)*$`)

func (m *missing) configure(ctx context.Context, conn *pgx.Conn, name, value string) error {
	typ, def, err := m.settable(name)
	if err != nil {
		return err
	}
	if strings.Contains(value, "\x00") || typ == `"char"` && len(value) > 1 {
		return fmt.Errorf("%q is no %s", value, typ)
	}
	wanted := literal(value) + "::" + typ
	same := "false"
	if constant.MatchString(def) {
		same = fmt.Sprintf("(%s)::pg_catalog.text OPERATOR(pg_catalog.=) (%s)::pg_catalog.text", def, wanted)
	}
	var there, allowed bool
	query := fmt.Sprintf("SELECT %s, %s FROM (SELECT %s AS %s) AS value", same, checkOf(name), wanted, pgx.Identifier{name}.Sanitize())
	err = conn.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&there, &allowed)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code[:2] == "22":
		return fmt.Errorf("%q is no %s: %w", value, typ, err)
	case err != nil:
		return err
	case !allowed:
		return fmt.Errorf("%q violates constraint pgtaskd_%s_check", value, name)
	case !there:
		m.change("default of column "+name, setDefault(m.table, name, literal(value))+";")
	}
	return nil
}

// settable is the type of a column that may have a configured default, and the default that it has.
func (m *missing) settable(name string) (typ, def string, err error) {
	i := slices.IndexFunc(wantedColumns(), func(c wantedColumn) bool { return c.name == name })
	column := m.column(name)
	switch {
	case i < 0 && column == nil && name != "id":
		return "", "", errors.New("no such column")
	case name == "author" || name != "after" && slices.Contains(notCopied, name),
		i >= 0 && wantedColumns()[i].generated,
		column != nil && (column.Generated || column.Identity):
		return "", "", errors.New("can not be set")
	case column != nil:
		return column.Type, column.Default, nil
	default:
		return wantedColumns()[i].typ, "", nil
	}
}

var checkText = regexp.MustCompile(`(?s)WHEN ([^;]*?) THEN '(\w+)'`)

// oldColumn is one of the row before, which an INSERT has not.
var oldColumn = regexp.MustCompile(`OLD\."?\w+"?`)

// checkOf is the condition that the function pgtaskd_accept makes on this column alone.
func checkOf(name string) string {
	for _, s := range stepsOf(functionStep) {
		for _, check := range checkText.FindAllStringSubmatch(s.sql, -1) {
			if check[2] == name {
				return "(" + oldColumn.ReplaceAllString(strings.ReplaceAll(check[1], "NEW.", ""), "NULL") + ") IS NOT TRUE"
			}
		}
	}
	return "true"
}
