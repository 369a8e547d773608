package apply

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/conf"
)

// wanted holds the values that the rows of a job must have.
type wanted struct {
	job   *Job
	named []*column          // in the table's order
	json  map[string]string  // of the named columns, as JSON
	texts map[string]*string // of all compared columns, as the server writes them; nil: NULL

	expired bool // its series is over, so it is not inserted
}

// of returns a value as JSON for a column: a scalar becomes the text that an INSERT would take.
func (c *column) of(v value) string {
	if v.kind == scalar && !c.json {
		return string(quoted(v.text))
	}
	if v.kind == scalar {
		return v.text
	}
	return string(v.json())
}

// want returns the values of the jobs, except those that only the server can read.
func (t *table) want(jobs Jobs) []*wanted {
	all := make([]*wanted, len(jobs))
	for i, j := range jobs {
		w := &wanted{job: j, json: map[string]string{}, texts: map[string]*string{}}
		for _, c := range t.columns {
			f, named := j.named[c.name]
			switch {
			case named:
				w.named = append(w.named, c)
				w.json[c.name] = c.of(f.value)
			case c.name == "repeat" && j.given("cron"): // whatever the default of repeat is
				w.named = append(w.named, c)
				w.json[c.name] = `"0"`
			}
		}
		all[i] = w
	}
	return all
}

// named reports whether any job sets a column.
func named(all []*wanted, c *column) bool {
	return slices.ContainsFunc(all, func(w *wanted) bool { return slices.Contains(w.named, c) })
}

// object returns the job's values of these columns as a JSON object.
func (w *wanted) object(columns []*column) string {
	var parts []string
	for _, c := range columns {
		if value, has := w.json[c.name]; has {
			parts = append(parts, string(quoted(c.name))+":"+value)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// understand lets the server read the values of the files, and adds defaults for other columns.
func (t *table) understand(ctx context.Context, tx pgx.Tx, all []*wanted) error {
	if len(all) == 0 {
		return nil
	}
	var faults conf.Faults
	var answer *pgconn.PgError
	err := t.readValues(ctx, tx, all, t.where(func(c *column) bool { return named(all, c) }))
	if errors.As(err, &answer) {
		err = t.blame(ctx, tx, all, &faults)
	}
	if err == nil {
		err = t.defaults(ctx, tx, all)
	}
	if err != nil {
		return err
	}
	for _, w := range all {
		if same(w.texts["repeat"], new("00:00:00")) && w.job.given("repeat") {
			faults.Add(w.job.named["repeat"].value.at, "repeat is 0, and a job without cron and repeat would run once")
		}
	}
	return faults.Err()
}

func (t *table) defaults(ctx context.Context, tx pgx.Tx, all []*wanted) error {
	own := t.where(func(c *column) bool { return c.own && c.compared() })
	defaults := listed(own, func(c *column) string { return "((" + c.fallback + ")::" + c.typ + ")::pg_catalog.text" })
	var values []*string
	if err := tx.QueryRow(ctx, t.statement("defaults", words{":defaults": defaults})).Scan(&values); err != nil {
		return err
	}
	for _, w := range all {
		for i, c := range own {
			if _, named := w.json[c.name]; named {
				continue
			}
			w.texts[c.name] = values[i]
			switch {
			case values[i] == nil:
				w.json[c.name] = "null"
			case c.json:
				w.json[c.name] = *values[i]
			default:
				w.json[c.name] = string(quoted(*values[i]))
			}
		}
	}
	return nil
}

// readValues lets the server read columns of jobs, in a savepoint.
func (t *table) readValues(ctx context.Context, tx pgx.Tx, jobs []*wanted, columns []*column) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	objects := make([]string, len(jobs))
	for i, w := range jobs {
		objects[i] = w.object(columns)
	}
	statement := t.statement("wanted", words{":texts": texts("r", columns), ":typed": typed(columns)})
	rows, _ := inner.Query(ctx, statement, objects) // CollectRows returns its error
	read, err := pgx.CollectRows(rows, pgx.RowTo[[]*string])
	if err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	for i, w := range jobs {
		for n, c := range columns {
			if slices.Contains(w.named, c) {
				w.texts[c.name] = read[i][n]
			}
		}
	}
	return inner.Commit(ctx)
}

// blame finds the values that the server cannot read.
func (t *table) blame(ctx context.Context, tx pgx.Tx, jobs []*wanted, faults *conf.Faults) error {
	for _, w := range jobs {
		err := t.readValues(ctx, tx, []*wanted{w}, w.named)
		if err == nil {
			continue
		}
		for _, c := range w.named {
			err := t.readValues(ctx, tx, []*wanted{w}, []*column{c})
			var answer *pgconn.PgError
			switch {
			case err == nil:
			case errors.As(err, &answer):
				at := w.job.at
				if f, named := w.job.named[c.name]; named {
					at = f.value.at
				}
				faults.Add(at, "%s: %s", c.name, answer.Message)
			default:
				return err
			}
		}
	}
	return nil
}
