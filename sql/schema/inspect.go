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

// found are the parts of a table and its schema that exist.
type found struct {
	version     int // of the server
	schema      bool
	oid         int64 // 0: no such relation
	relkind     string
	comment     string
	options     []string // name=value
	partition   bool     // it is a partition of another table
	hiddenFrom  string   // our role, quoted, if policies may hide rows from it
	root        int64    // the topmost table that it is a partition of, or the table itself
	sequence    int64    // that gives the ids; 0: not known
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
	Cast      string // the same, qualified and quoted for a cast
	BaseType  string // name in pg_type; of a domain's base type if it is a domain
	TypeKind  string // b, e …
	TypeOID   int64
	NotNull   bool
	Generated bool
	Identity  bool
	Default   string // expression; empty: none
	Comment   bool
}

type foundIndex struct {
	Unique    bool // and checked at once
	Primary   bool
	Columns   []string // '' stands for an expression
	Condition string   // empty: all rows
}

type foundTrigger struct {
	Name     string
	Enabled  bool
	Guards   bool // it guards each row that is inserted or updated, always
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
	Labels []string // our labels that it has
}

// Below is the table, or a partition or child below it at any depth.
type Below struct {
	Name      string // quoted
	Foreign   bool   // it is below the table, and its rows are on another server
	Inserters bool   // its tasks run under the roles that insert them
	Unguarded bool   // it is below the table and lacks the trigger that fills and guards role, enabled always
	Claimed   bool   // it is the table itself, lacks that trigger and has a column role
}

// states are the labels of the enum.
var states = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// usable tells whether this is the enum of a task's states. It may lack FAIL and GONE, as pg_task's
// own does: a transaction that adds labels cannot use them, and nothing uses them in it.
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

// trigger returns our trigger of that name: it calls the function that we make for it.
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

// index returns an index with exactly these key columns, on all rows or on those of the condition.
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

// indexOf returns the index that the step would make, or an equally good one.
func (f *found) indexOf(s step) *foundIndex {
	return f.index(s.unique(), unbracketed.Replace(s.condition), s.columns...)
}

// unbracketed removes the brackets from a condition, since the server adds some to ours.
var unbracketed = strings.NewReplacer("(", "", ")", "")

// inspect reads the table from the catalogs, which any role may do.
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

func collect[T any](ctx context.Context, conn *pgx.Conn, into *[]T, query string, row pgx.RowToFunc[T], args ...any) error {
	rows, err := conn.Query(ctx, inspections.Text(query), args...)
	if err != nil {
		return err
	}
	*into, err = pgx.CollectRows(rows, row)
	return err
}

// stateType returns the type of the column state as a cast names it, and the type itself (nil: not
// an enum, or not made yet). An existing table keeps its type. A new one shares the schema's type,
// unless somebody's own type has that name.
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
	return sql.Plain(t.Schema, "pgtaskd_state"), nil // the server reports that the name is taken
}
