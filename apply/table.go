package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/schedule"
)

// table has the facts of a task table that are needed here.
type table struct {
	name    sql.Table
	columns []*column
	byName  map[string]*column
	role    string // as which rows are inserted; "" where tasks run under the serving role
}

type column struct {
	name     string
	typ      string // as a definition of a column has it
	json     bool
	fallback string // expression of the default
	own      bool   // one of every task table, which returns to its default when no file names it
	copied   bool   // by a repetition
}

func (c *column) quoted() string { return pgx.Identifier{c.name}.Sanitize() }

// same tells whether two texts are equal; nil is NULL.
func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// listed writes columns side by side.
func listed(columns []*column, written func(*column) string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = written(c)
	}
	return strings.Join(all, ", ")
}

// quotedNames are those of columns.
func quotedNames(columns []*column) string { return listed(columns, (*column).quoted) }

// typed are columns as a list of definitions.
func typed(columns []*column) string {
	return listed(columns, func(c *column) string { return c.quoted() + " " + c.typ })
}

// texts are columns of a row as the server writes them.
func texts(row string, columns []*column) string {
	return listed(columns, func(c *column) string { return row + "." + c.quoted() + "::pg_catalog.text" })
}

// words are what stands for :words in a statement.
type words = map[string]string

// where are the columns of the table that fit.
func (t *table) where(fits func(*column) bool) []*column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !fits(c) })
}

// seen locks the table, and then looks at it: it stays as it is.
func seen(ctx context.Context, tx pgx.Tx, name sql.Table) (known schema.Description, err error) {
	var denied *string
	rights := (&table{name: name}).statement("rights", words{":reads": "true", ":stops": "false"})
	err = tx.QueryRow(ctx, rights, name.Schema, name.Name).Scan(&denied)
	if errors.Is(err, pgx.ErrNoRows) {
		return known, nil
	}
	if denied != nil {
		err = errors.New(*denied)
	}
	if err == nil {
		_, err = tx.Exec(ctx, "LOCK TABLE "+name.String()+" IN ACCESS SHARE MODE")
	}
	if err != nil {
		return known, err
	}
	return schema.Describe(ctx, tx.Conn(), name)
}

// describe looks at the table. It stays as it is until the transaction ends. If tasks run under the
// role that inserts them, a table that does not tell whose job is whose is refused.
func describe(ctx context.Context, tx pgx.Tx, name sql.Table, inserter bool) (*table, error) {
	known, err := seen(ctx, tx, name)
	switch {
	case err != nil:
		return nil, err
	case !known.Exists:
		return nil, fmt.Errorf("table %s does not exist: pgtaskd run creates it, pgtaskd schema prints the statements", name)
	case inserter && known.Refusal(true) != nil:
		return nil, known.Refusal(true)
	case known.Partitioned:
		return nil, fmt.Errorf("table %s is partitioned, and tasks of a partitioned table have no key", name)
	}
	t := &table{name: name, byName: map[string]*column{}}
	rows, _ := tx.Query(ctx, t.statement("columns", nil), name.Schema, name.Name) // CollectRows has its error
	t.columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*column, error) {
		c := &column{}
		return c, row.Scan(&c.name, &c.typ, &c.json, &c.fallback)
	})
	if err != nil {
		return nil, err
	}
	for _, c := range t.columns {
		c.own = slices.Contains(schema.OwnColumns(), c.name)
		c.copied = slices.Contains(known.Copied, c.quoted())
		t.byName[c.name] = c
	}
	for _, needed := range []string{"key", "wait_key", "owner"} {
		if t.byName[needed] == nil {
			return nil, fmt.Errorf("table %s lacks the column %s: pgtaskd run adds it, pgtaskd schema prints the statements", name, needed)
		}
	}
	if known.Roles && t.byName["role"] != nil {
		err = tx.QueryRow(ctx, t.statement("role", nil)).Scan(&t.role)
	}
	return t, err
}

// byOthers are columns that a repetition copies and no file may name: they say who made the row,
// and for whom.
var byOthers = []string{"author", "owner", "role"}

// namable tells whether a file may name a column: one that repetitions copy, so that it keeps the
// file's value, or plan, for the first run.
func (c *column) namable() bool {
	return c.name == "plan" || c.copied && !slices.Contains(byOthers, c.name)
}

// compared tells whether a row that is there must have the file's value of a column.
func (c *column) compared() bool { return c.namable() && c.name != "plan" && c.name != "key" }

// check finds columns that no file may name.
func (t *table) check(jobs Jobs) error {
	names := []string{inputFile}
	for _, c := range t.where((*column).namable) {
		names = append(names, c.name)
	}
	var faults conf.Faults
	for _, j := range jobs {
		for _, name := range j.columns {
			f, c := j.named[name], t.byName[name]
			switch {
			case c == nil:
				advice := conf.DidYouMean(name, names)
				if advice == "" && name == "paused" {
					advice = "; UPDATE … SET state = 'STOP' pauses a job, and a file leaves it paused"
				}
				faults.Add(f.at, "the table has no column %q%s", name, advice)
			case name == "owner":
				faults.Add(f.at, "owner is what --owner says")
			case !c.namable():
				faults.Add(f.at, "%s is not for a file: it belongs to one run", name)
			case c.json && f.value.kind == scalar && !json.Valid([]byte(f.value.text)):
				faults.Add(f.value.at, "%s is no JSON", name)
			case name == "cron" && f.value.kind == scalar:
				if _, err := schedule.Parse(f.value.text, time.UTC); err != nil {
					faults.Add(f.value.at, "%s", err)
				}
			}
		}
	}
	return faults.Err()
}

// statement is a text of sql/apply with names in it.
func (t *table) statement(name string, names words) string {
	all := words{":table": t.name.String()}
	maps.Copy(all, names)
	return sql.Named(sql.File("apply/"+name), all)
}
