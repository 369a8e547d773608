package apply

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/schedule"
)

//go:embed sql/*.sql
var statements embed.FS

// table has the facts of a task table that are needed here.
type table struct {
	name    sql.Table
	columns []column
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

// seen locks the table, and then looks at it: it stays as it is.
func seen(ctx context.Context, tx pgx.Tx, name sql.Table) (schema.Description, error) {
	var r schema.Reading
	err := tx.QueryRow(ctx, (&table{name: name}).statement("rights", nil), name.Schema, name.Name).Scan(&r.Role, &r.Usage, &r.Select)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return schema.Description{}, err
	}
	if grants := r.Grants(name); err == nil && len(grants) > 0 {
		return schema.Description{}, r.Denied(grants)
	}
	known, err := schema.Describe(ctx, tx.Conn(), name) // its error is better than that of the lock
	if err != nil || !known.Exists {
		return known, err
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE "+name.String()+" IN ACCESS SHARE MODE"); err != nil {
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
	rows, err := tx.Query(ctx, t.statement("columns", nil), name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	t.columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		err = row.Scan(&c.name, &c.typ, &c.json, &c.fallback)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	for i := range t.columns {
		c := &t.columns[i]
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

// named tells whether a file may name a column: one that repetitions copy, so that it keeps the
// file's value, or plan, for the first run.
func (c *column) namable() bool {
	return c.name == "plan" || c.copied && !slices.Contains(byOthers, c.name)
}

// compared tells whether a row that is there must have the file's value of a column.
func (c *column) compared() bool { return c.namable() && c.name != "plan" && c.name != "key" }

// check finds columns that no file may name.
func (t *table) check(jobs Jobs) error {
	var names []string
	for i := range t.columns {
		if t.columns[i].namable() {
			names = append(names, t.columns[i].name)
		}
	}
	names = append(names, inputFile)
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
			case c.json && f.value.kind == scalar && !isJSON(f.value.text):
				faults.Add(f.value.at, "%s is no JSON", name)
			case name == "cron" && f.value.kind == scalar:
				if why := wrongCron(f.value.text); why != "" {
					faults.Add(f.value.at, "%s", why)
				}
			}
		}
	}
	return faults.Err()
}

// wrongCron is the fault of an expression.
func wrongCron(text string) string {
	if _, err := schedule.Parse(text, time.UTC); err != nil {
		return err.Error()
	}
	return ""
}

// statement is a text of sql/ with names in it. Those of columns are lists.
func (t *table) statement(name string, lists map[string][]string) string {
	text, err := statements.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	var pairs []string
	for word, list := range lists {
		pairs = append(pairs, word, strings.Join(list, ", "))
	}
	pairs = append(pairs, ":table", t.name.String())
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "--") {
			b.WriteString(line)
		}
	}
	return strings.NewReplacer(pairs...).Replace(b.String())
}

// texts are columns of a row as the server writes them.
func texts(alias string, columns []*column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = alias + "." + c.quoted() + "::pg_catalog.text"
	}
	return all
}

// typed are columns as a list of definitions.
func typed(columns []*column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.quoted() + " " + c.typ
	}
	return all
}

func quotedNames(columns []*column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.quoted()
	}
	return all
}
