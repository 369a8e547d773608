package sql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// found is what there is of a table and its schema.
type found struct {
	version     int    // of the server
	here        string // how the comments end of what was made on this server, but for the number
	schema      bool
	oid         int64 // 0: no such relation
	relkind     string
	comment     string
	options     []string // name=value
	partition   bool     // of another table
	hiddenFrom  string   // our role, quoted, where policies may hide rows from it
	root        int64    // the table itself, or the one that it is in the end a partition of
	sequence    int64    // from which ids come; 0: not known
	publication bool     // one with the name of ours is there
	publisher   string   // whose it is, quoted, where that is nobody who is trusted
	published   int64    // by what number it shows what is inserted into the table; 0: it does not
	columns     []foundColumn
	constraints []string
	triggers    []foundTrigger
	indexes     []foundIndex
	functions   []foundFunction
	types       []foundType
	register    foundRegister
	besides     []foundBeside
	callers     []string // tables, quoted, with triggers that call the function for that, if a dump has brought it
	referrers   []foundReferrer
	grantees    []string // of REFERENCES, untrusted, quoted
	below       []Below
	masters     []int64    // who own the table, those below it, and the types of its columns
	taken       *Untrusted // relations of others that have names of our indexes
}

type foundColumn struct {
	Name      string
	Type      string // for people
	Cast      string // the same, qualified and quoted, as a cast names it
	Builtin   string // the same, qualified; empty: it is not one of the server's own
	BaseType  string // name in pg_type, of what a domain is made of
	TypeKind  string // b, e …
	TypeOID   int64
	NotNull   bool
	Generated bool
	Identity  bool
	Default   string // expression; empty: none
	Comment   bool
	Believed  bool // the comment says that the values of role count without a trigger
}

type foundIndex struct {
	OID       int64
	Name      string
	Unique    bool // at once
	Primary   bool
	Columns   []string // '' is an expression
	Condition string   // on its rows; empty: all of them
	Comment   bool
}

type foundTrigger struct {
	Name     string
	Enabled  bool
	Guards   bool // each row that is inserted or updated, whatever session_replication_role says
	Comment  bool
	Function string
	Beside   bool // the function is in the table's schema
	Defers   bool // it may wait for COMMIT
}

type foundFunction struct {
	Name, Source, Comment string
}

type foundType struct {
	Name    string
	OID     int64
	Enum    bool
	Labels  []string // those of ours that it has
	Trusted bool
	Users   []string // of the type that our functions take: who else may use it, quoted,
	Unknown bool     // and that the table's owner may not, though we may let them
	Checked bool     // and that it has constraints
}

// foundReferrer is a table of somebody untrusted that refers to this one.
type foundReferrer struct {
	Name, Owner string // quoted
}

type foundPublication struct {
	Published int64
	Stranger  string
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

// trigger is ours of that name: it calls the function that we make for it. After ALTER TABLE …
// RENAME it is that of the old name.
func (f *found) trigger(name string) *foundTrigger {
	for i, trigger := range f.triggers {
		match := hashed.FindStringSubmatch(trigger.Function)
		if trigger.Name == name && match != nil && match[1]+":hash" == calledBy(name) && (trigger.Beside || f.partition) {
			return &f.triggers[i]
		}
	}
	return nil
}

// hashed are names that end with a table's hash.
var hashed = regexp.MustCompile(`^(\w+_)[0-9a-f]{16}$`)

// calledBy is the function that our trigger of that name calls.
func calledBy(trigger string) string {
	for _, s := range append(stepsOf(triggerStep), roleStepsOf(triggerStep)...) {
		if s.name == trigger {
			return s.calls
		}
	}
	return ""
}

// index is one whose key columns are exactly these, on all rows or on those of the condition.
func (f *found) index(unique bool, condition string, columns ...string) *foundIndex {
	for i, index := range f.indexes {
		covers := index.Condition == "" || unbracketed.Replace(index.Condition) == condition
		if covers && slices.Equal(index.Columns, columns) && (index.Unique || !unique) {
			return &f.indexes[i]
		}
	}
	return nil
}

// indexOf is the index that the step would make, or one that is as good. One with operators in its
// condition is told by its name.
func (f *found) indexOf(s step) *foundIndex {
	if !s.forViews() {
		return f.index(s.unique(), s.condition, s.columns...)
	}
	for i, index := range f.indexes {
		if match := hashed.FindStringSubmatch(index.Name); match != nil && match[1] == "pgtaskd_"+s.name+"_" {
			return &f.indexes[i]
		}
	}
	return nil
}

// unbracketed takes from a condition what the server adds to ours.
var unbracketed = strings.NewReplacer("(", "", ")", "")

// inspect looks the table up in the catalogs, which any role may read. What belongs to somebody who
// is not trusted (o.Alone: to others than the connection's user and superusers) is an *Untrusted
// error, before anything of it is believed.
func inspect(ctx context.Context, conn *pgx.Conn, t Table, o Options) (*found, error) {
	trusted, taken, err := owners(ctx, conn, t, o)
	f := &found{taken: taken}
	if err == nil {
		err = f.inspect(ctx, conn, t, o, trusted)
	}
	if err != nil && !IsUntrusted(err) {
		err = fmt.Errorf("look at table %s: %w", t, err)
	}
	return f, err
}

func (f *found) inspect(ctx context.Context, conn *pgx.Conn, t Table, o Options, trusted []int64) (err error) {
	if err = conn.QueryRow(ctx, text("inspect/schema"), t.Schema).Scan(&f.schema, &f.version); err != nil {
		return err
	}
	if f.here, err = here(ctx, conn); err != nil {
		return err
	}
	err = conn.QueryRow(ctx, text("inspect/table"), t.Schema, t.Name).Scan(&f.oid, &f.relkind, &f.comment, &f.options,
		&f.partition, &f.root, &f.hiddenFrom)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if f.columns, err = collect(ctx, conn, "columns", pgx.RowToStructByPos[foundColumn], f.oid); err != nil {
		return err
	}
	if f.below, err = collect(ctx, conn, "below", pgx.RowToStructByPos[Below], t.Schema, t.Name); err != nil {
		return err
	}
	if f.masters, err = collect(ctx, conn, "masters", pgx.RowTo[int64], f.oid); err != nil {
		return err
	}
	if f.constraints, err = collect(ctx, conn, "constraints", pgx.RowTo[string], f.oid); err != nil {
		return err
	}
	if f.triggers, err = collect(ctx, conn, "triggers", pgx.RowToStructByPos[foundTrigger], f.oid); err != nil {
		return err
	}
	if f.indexes, err = collect(ctx, conn, "indexes", pgx.RowToStructByPos[foundIndex], f.oid); err != nil {
		return err
	}
	fired, called := functionNames(t, o.Inserter)
	if f.functions, err = collect(ctx, conn, "functions", pgx.RowToStructByPos[foundFunction], t.Schema, fired, called, callName(t), trusted); err != nil {
		return err
	}
	sequences, err := collect(ctx, conn, "sequence", pgx.RowTo[int64], f.oid)
	if err != nil {
		return err
	}
	if len(sequences) > 0 {
		f.sequence = sequences[0]
	}
	published, err := collect(ctx, conn, "publication", pgx.RowToStructByPos[foundPublication], Publication(t), f.oid, trusted)
	if err != nil {
		return err
	}
	if f.publication = len(published) > 0; f.publication {
		if f.publisher = published[0].Stranger; f.publisher == "" {
			f.published = published[0].Published
		}
	}
	var state int64
	if column := f.column("state"); column != nil {
		state = column.TypeOID
	}
	if f.types, err = collect(ctx, conn, "types", pgx.RowToStructByPos[foundType], t.Schema, state, trusted, callName(t), states, o.Serving, f.oid); err != nil {
		return err
	}
	if err := f.inspectBesides(ctx, conn, t, trusted); err != nil {
		return err
	}
	if async := f.brought(t, "async"); async != nil {
		if f.callers, err = collect(ctx, conn, "callers", pgx.RowTo[string], async.OID, trusted); err != nil {
			return err
		}
	}
	if f.referrers, err = collect(ctx, conn, "referrers", pgx.RowToStructByPos[foundReferrer], f.oid, trusted); err != nil {
		return err
	}
	if f.grantees, err = collect(ctx, conn, "grantees", pgx.RowTo[string], f.oid, trusted); err != nil {
		return err
	}
	return f.inspectRegister(ctx, conn, t)
}

func collect[T any](ctx context.Context, conn *pgx.Conn, query string, row pgx.RowToFunc[T], args ...any) ([]T, error) {
	rows, err := conn.Query(ctx, text("inspect/"+query), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, row)
}
