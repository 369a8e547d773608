package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// found are the parts of a table and its schema that are there.
type found struct {
	version     int // of the server
	schema      bool
	oid         int64 // 0: no such relation
	relkind     string
	comment     string
	options     []string // name=value
	partition   bool     // of another table
	hiddenFrom  string   // our role, quoted, where policies may hide rows from it
	root        int64    // the table itself, or the one that it is in the end a partition of
	sequence    int64    // from which ids come; 0: not known
	published   int64    // the number by which our publication shows inserts into the table; 0: it does not
	columns     []foundColumn
	constraints []string
	triggers    []foundTrigger
	indexes     []foundIndex
	functions   []foundFunction
	types       []foundType
	besides     besides
	below       []Below
}

type foundColumn struct {
	Name      string
	Type      string // for people
	Cast      string // the same, qualified and quoted, as a cast names it
	BaseType  string // name in pg_type; of a domain, that of its base type
	TypeKind  string // b, e …
	TypeOID   int64
	NotNull   bool
	Generated bool
	Identity  bool
	Default   string // expression; empty: none
	Comment   bool
}

type foundIndex struct {
	Unique    bool // at once
	Primary   bool
	Columns   []string // '' is an expression
	Condition string   // on its rows; empty: all of them
}

type foundTrigger struct {
	Name     string
	Enabled  bool
	Guards   bool // each row that is inserted or updated, always
	Function string
	Beside   bool // the function is in the table's schema
	Comment  string
}

type foundFunction struct {
	Name, Source, Comment string
}

type foundType struct {
	Name   string
	OID    int64
	Enum   bool
	Labels []string // those of ours that it has
}

// Below is the table, or one below it: a partition or child of it, or of one below it.
type Below struct {
	Name      string // quoted
	Foreign   bool   // it is below, and has its rows on another server
	Inserters bool   // its tasks run under the roles that insert them
	Unguarded bool   // it is below, and lacks the trigger that fills and guards role, enabled always
	Claimed   bool   // it is the table, without that trigger, and has a column role
}

// The states, as the enum has them.
var states = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// usable tells whether an enum is that of a task's states. It may lack FAIL and GONE, as pg_task's own
// has: they cannot be used in the transaction that adds them, where nothing uses them.
func (t foundType) usable() bool {
	return t.Enum && !slices.ContainsFunc(states, func(label string) bool {
		return label != "FAIL" && label != "GONE" && !slices.Contains(t.Labels, label)
	})
}

func (f *found) partitioned() bool { return f.relkind == "p" }

func (f *found) column(name string) *foundColumn {
	for i := range f.columns {
		if f.columns[i].Name == name {
			return &f.columns[i]
		}
	}
	return nil
}

// trigger is ours of that name: it calls the function that we make for it.
func (f *found) trigger(name string) *foundTrigger {
	for i, trigger := range f.triggers {
		calls := func(s step) bool { return s.name == name && strings.Contains(s.sql, "."+trigger.Function+"(") }
		if trigger.Name == name && (trigger.Beside || f.partition) && slices.ContainsFunc(stepsOf(triggerStep), calls) {
			return &f.triggers[i]
		}
	}
	return nil
}

func (f *found) enabled(name string) bool {
	trigger := f.trigger(name)
	return trigger != nil && trigger.Enabled
}

// index is one whose key columns are exactly these, on all rows or on those of the condition.
func (f *found) index(unique bool, condition string, columns ...string) *foundIndex {
	var covers *foundIndex
	for i, index := range f.indexes {
		switch {
		case !slices.Equal(index.Columns, columns) || unique && !index.Unique:
		case unbracketed.Replace(index.Condition) == condition:
			return &f.indexes[i]
		case index.Condition == "":
			covers = &f.indexes[i]
		}
	}
	return covers
}

// indexOf is the index that the step would make, or one that is as good.
func (f *found) indexOf(s step) *foundIndex {
	return f.index(s.unique(), unbracketed.Replace(s.condition), s.columns...)
}

// unbracketed takes from a condition the brackets that the server adds to ours.
var unbracketed = strings.NewReplacer("(", "", ")", "")

// inspect looks the table up in the catalogs, which any role may read.
func inspect(ctx context.Context, conn *pgx.Conn, t sql.Table) (*found, error) {
	f := &found{besides: besides{table: t}}
	err := f.inspectTable(ctx, conn, t)
	if err == nil {
		err = f.inspectSchema(ctx, conn, t)
	}
	if err != nil {
		return nil, fmt.Errorf("look at table %s: %w", t, err)
	}
	return f, nil
}

// inspectSchema looks at the schema, and at the objects beside the table.
func (f *found) inspectSchema(ctx context.Context, conn *pgx.Conn, t sql.Table) (err error) {
	err = conn.QueryRow(ctx, inspections.Text("schema"), t.Schema, t.Name, sql.Publication(t)).
		Scan(&f.schema, &f.version, &f.published, &f.besides.role, &f.besides.makes)
	if err != nil {
		return err
	}
	return cmp.Or(
		collect(ctx, conn, &f.functions, "functions", pgx.RowToStructByPos, t.Schema, functionNames()),
		collect(ctx, conn, &f.types, "types", pgx.RowToStructByPos, t.Schema, f.oid, states),
		collect(ctx, conn, &f.besides.there, "beside", pgx.RowToStructByPos, t.Schema, sql.BesideNames(t)),
	)
}

// inspectTable looks at the table itself.
func (f *found) inspectTable(ctx context.Context, conn *pgx.Conn, t sql.Table) (err error) {
	err = conn.QueryRow(ctx, inspections.Text("table"), t.Schema, t.Name).Scan(&f.oid, &f.relkind, &f.comment, &f.options,
		&f.partition, &f.root, &f.hiddenFrom)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return cmp.Or(
		collect(ctx, conn, &f.columns, "columns", pgx.RowToStructByPos, f.oid),
		collect(ctx, conn, &f.below, "below", pgx.RowToStructByPos, t.Schema, t.Name),
		collect(ctx, conn, &f.constraints, "constraints", pgx.RowTo, f.oid),
		collect(ctx, conn, &f.triggers, "triggers", pgx.RowToStructByPos, f.oid),
		collect(ctx, conn, &f.indexes, "indexes", pgx.RowToStructByPos, f.oid),
		conn.QueryRow(ctx, inspections.Text("sequence"), f.oid).Scan(&f.sequence),
	)
}

// collect reads the rows of a statement.
func collect[T any](ctx context.Context, conn *pgx.Conn, into *[]T, query string, row pgx.RowToFunc[T], args ...any) error {
	rows, err := conn.Query(ctx, inspections.Text(query), args...)
	if err != nil {
		return err
	}
	*into, err = pgx.CollectRows(rows, row)
	return err
}

// stateType is the type of the column state as a cast names it, and the type itself (nil: not an
// enum, or yet to be made). A table keeps the type it has. A new one shares that of the schema,
// unless the name is taken by somebody's own type.
func (f *found) stateType(t sql.Table) (string, *foundType) {
	if column := f.column("state"); column != nil {
		for i, typ := range f.types {
			if typ.OID == column.TypeOID && typ.Enum {
				return column.Cast, &f.types[i]
			}
		}
		return column.Cast, nil
	}
	for _, name := range stateNames(t) {
		i := slices.IndexFunc(f.types, func(typ foundType) bool { return typ.Name == name })
		switch {
		case i < 0:
			return sql.Plain(t.Schema, name), nil
		case f.types[i].usable():
			return sql.Plain(t.Schema, name), &f.types[i]
		}
	}
	return sql.Plain(t.Schema, "pgtaskd_state"), nil // the server says that there is one
}
