package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// A constant, as the catalog shows it: '1 day'::interval, 5, '-5'::integer, true,
// ('a'::text)::"char". Anything else is not evaluated here.
var constant = regexp.MustCompile(`^\(*('(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false)\)*((?:::[\w". \[\]]+\)*)*)$`)

// What the catalog calls the types by which a constant may get its own, and their names.
var builtin = map[string]string{
	"text": "text", "character varying": "varchar", "character": "bpchar", "bpchar": "bpchar", `"char"`: `"char"`,
	"smallint": "int2", "integer": "int4", "bigint": "int8", "numeric": "numeric", "boolean": "bool", "interval": "interval",
}

// evaluated is the text of a default that is a constant, as an expression in which all types are
// the server's own: to evaluate another one, a domain say, could run what somebody else has made.
// It is empty where that is not one.
func (column foundColumn) evaluated() string {
	match := constant.FindStringSubmatch(column.Default)
	if match == nil {
		return ""
	}
	expression := match[1]
	for _, name := range strings.Split(match[2], "::")[1:] {
		name = strings.TrimPrefix(strings.TrimRight(name, ")"), "pg_catalog.")
		switch {
		case name == strings.TrimPrefix(column.Type, "pg_catalog."):
			expression += "::" + column.Builtin
		case builtin[name] != "":
			expression += "::" + builtin[name]
		default:
			return ""
		}
	}
	return expression
}

func (m *missing) configure(ctx context.Context, conn *pgx.Conn, name, value string) error {
	column, err := m.settable(name)
	if err != nil {
		return err
	}
	typ := column.Type
	if strings.Contains(value, "\x00") || typ == `"char"` && len(value) > 1 {
		return fmt.Errorf("%q is not a valid %s", value, typ)
	}
	statement := setDefault(m.table, name, literal(value)) + ";"
	if column.Builtin == "" {
		return fmt.Errorf("its type %s is not built in, and could run somebody else's code: as the table's owner, %s", typ, statement)
	}
	wanted := literal(value) + "::" + column.Builtin
	same := "false"
	if def := column.evaluated(); def != "" {
		same = fmt.Sprintf("(%s)::text = (%s)::text", def, wanted)
	}
	var there, allowed bool
	query := fmt.Sprintf("SELECT %s, %s FROM (SELECT %s AS %s) AS value", same, cmp.Or(checks()[name], "true"), wanted,
		pgx.Identifier{name}.Sanitize())
	err = conn.QueryRow(ctx, query, pgx.QueryExecModeExec).Scan(&there, &allowed)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code[:2] == "22":
		return fmt.Errorf("%q is not a valid %s: %w", value, typ, err)
	case err != nil:
		return err
	case !allowed:
		return fmt.Errorf("%q violates constraint pgtaskd_%s_check", value, name)
	case !there:
		m.change("default of column "+name, statement)
	}
	return nil
}

// settable is a column that may have a configured default.
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
		return foundColumn{Name: name, Type: typ, Builtin: typ}, nil
	}
}

var checkText = regexp.MustCompile(`(?s)WHEN ([^;]*?) THEN '(\w+)'`)

// bounded calls our function of that name, which is not there yet.
var bounded = regexp.MustCompile(`:schema\.pgtaskd_bounded\(NEW\.(\w+)\)`)

// oldColumn is one of the row before, which an INSERT has not.
var oldColumn = regexp.MustCompile(`OLD\."?\w+"?`)

// checks are the conditions that the function pgtaskd_accept makes on one column alone.
var checks = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, s := range stepsOf(functionStep) {
		for _, check := range checkText.FindAllStringSubmatch(s.sql, -1) {
			if all[check[2]] == "" {
				check[1] = bounded.ReplaceAllString(check[1], "($1 >= '0' AND $1 <= '1000 years' AND abs(date_part('year', $1)) <= 1000 AND abs(date_part('day', $1)) <= 400000)")
				all[check[2]] = "(" + oldColumn.ReplaceAllString(strings.ReplaceAll(check[1], "NEW.", ""), "NULL") + ") IS NOT TRUE"
			}
		}
	}
	return all
})
