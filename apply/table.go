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

// table describes a task table.
type table struct {
	name    sql.Table
	columns []*column
	byName  map[string]*column
	absent  map[string]string // columns of later versions that it lacks
	role    string            // the inserting role; "": tasks run under the serving role
}

type column struct {
	name     string
	typ      string // as in a column definition
	json     bool
	fallback string // expression of the default
	own      bool   // a standard column: without a value in a file, it gets its default
	copied   bool   // by repetitions
}

func (c *column) quoted() string { return pgx.Identifier{c.name}.Sanitize() }

// same reports whether two texts are equal; nil is NULL.
func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// listed writes columns as a list with commas.
func listed(columns []*column, written func(*column) string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = written(c)
	}
	return strings.Join(all, ", ")
}

// quotedNames lists the names of columns.
func quotedNames(columns []*column) string { return listed(columns, (*column).quoted) }

// typed lists columns with their types.
func typed(columns []*column) string {
	return listed(columns, func(c *column) string { return c.quoted() + " " + c.typ })
}

// texts lists columns of a row as text.
func texts(row string, columns []*column) string {
	return listed(columns, func(c *column) string { return row + "." + c.quoted() + "::pg_catalog.text" })
}

// words replace :words in a statement.
type words = map[string]string

// where returns the columns of the table that fit.
func (t *table) where(fits func(*column) bool) []*column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !fits(c) })
}

// seen locks the table before it describes it, so the table cannot change.
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

// describe looks at the table, which cannot change until the transaction ends. If tasks run under
// the role that inserted them, it refuses a table that does not record that role.
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
	t := &table{name: name, byName: map[string]*column{}, absent: known.Absent}
	rows, _ := tx.Query(ctx, t.statement("columns", nil), name.Schema, name.Name) // CollectRows returns its error
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
	for _, needed := range []string{"key", "wait_key"} {
		if t.byName[needed] == nil {
			return nil, t.lacks(needed)
		}
	}
	if known.Roles && t.byName["role"] != nil {
		err = tx.QueryRow(ctx, t.statement("role", nil)).Scan(&t.role)
	}
	return t, err
}

// lacks is the error of a table without a column of ours.
func (t *table) lacks(column string) error {
	return fmt.Errorf("table %s lacks the column %s: pgtaskd run adds it unless create is false; let the owner run the output of pgtaskd schema --config FILE", t.name, column)
}

// byOthers are copied columns that no file may set: they say who made the row, and for whom.
var byOthers = []string{"author", "owner", "role"}

// namable reports whether a file may set a column. Repetitions must copy it, so that the file's
// value lasts; plan may be set for the first run.
func (c *column) namable() bool {
	return c.name == "plan" || c.copied && !slices.Contains(byOthers, c.name)
}

// compared reports whether existing rows must have the file's value of a column.
func (c *column) compared() bool { return c.namable() && c.name != "plan" && c.name != "key" }

// check reports columns that no file may set.
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
			case c == nil && t.absent[name] != "":
				faults.Add(f.at, "%s", t.lacks(name))
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

// statement returns a statement of sql/apply with its words replaced.
func (t *table) statement(name string, names words) string {
	all := words{":table": t.name.String()}
	sql.Without(all, t.absent)
	maps.Copy(all, names)
	return sql.Named(sql.File("apply/"+name), all)
}
