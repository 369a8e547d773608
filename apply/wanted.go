package apply

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/conf"
)

// wanted are the values that a job's rows must have.
type wanted struct {
	job   *Job
	named []*column          // in the table's order
	json  map[string]string  // of the named ones, as JSON
	texts map[string]*string // of all that are compared, as the server writes them; nil: NULL
}

// of is a value as the server reads it into a column: a scalar is the text that an INSERT takes.
func (c *column) of(v value) string {
	if v.kind == scalar && !c.json {
		return string(quoted(v.text))
	}
	if v.kind == scalar {
		return v.text
	}
	return string(v.json())
}

// want are the values of the jobs, without those that only the server can read.
func (t *table) want(jobs Jobs) []*wanted {
	all := make([]*wanted, len(jobs))
	for i, j := range jobs {
		w := &wanted{job: j, json: map[string]string{}, texts: map[string]*string{}}
		for n := range t.columns {
			c := &t.columns[n]
			f, named := j.named[c.name]
			switch {
			case named:
				w.named = append(w.named, c)
				w.json[c.name] = c.of(f.value)
			case c.name == "repeat" && j.given("cron"): // whatever its default is
				w.named = append(w.named, c)
				w.json[c.name] = `"0"`
			}
		}
		all[i] = w
	}
	return all
}

// object is a JSON object of columns.
func (w *wanted) object(columns []*column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = string(quoted(c.name)) + ":" + w.json[c.name]
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// understand has the server read the values of the files, and fills in the defaults of others.
func (t *table) understand(ctx context.Context, tx pgx.Tx, all []*wanted) error {
	if err := t.defaults(ctx, tx, all); err != nil {
		return err
	}
	alike := map[string][]*wanted{} // jobs that name the same columns
	var order []string
	for _, w := range all {
		key := strings.Join(quotedNames(w.named), ",")
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], w)
	}
	var faults conf.Faults
	for _, key := range order {
		err := t.readValues(ctx, tx, alike[key], alike[key][0].named)
		if !isServers(err) {
			if err != nil {
				return err
			}
			continue
		}
		if err := t.blame(ctx, tx, alike[key], &faults); err != nil {
			return err
		}
	}
	for _, w := range all {
		if repeat := w.texts["repeat"]; repeat != nil && *repeat == "00:00:00" && w.job.given("repeat") {
			faults.Add(w.job.named["repeat"].value.at, "repeat is 0, and a job without cron and repeat would run once")
		}
	}
	return faults.Err()
}

func (t *table) defaults(ctx context.Context, tx pgx.Tx, all []*wanted) error {
	var own []*column
	var expressions []string
	for i := range t.columns {
		if c := &t.columns[i]; c.own && c.compared() {
			own = append(own, c)
			expressions = append(expressions, "(("+c.fallback+")::"+c.typ+")::pg_catalog.text")
		}
	}
	var values []*string
	if err := tx.QueryRow(ctx, t.statement("defaults", map[string][]string{":defaults": expressions})).Scan(&values); err != nil {
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

// readValues has the server read columns of jobs that name the same ones, in a transaction within
// ours.
func (t *table) readValues(ctx context.Context, tx pgx.Tx, jobs []*wanted, columns []*column) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	objects := make([]string, len(jobs))
	for i, w := range jobs {
		objects[i] = w.object(columns)
	}
	rows, err := inner.Query(ctx, t.statement("wanted",
		map[string][]string{":texts": texts("r", columns), ":typed": typed(columns)}), objects)
	if err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	read, err := pgx.CollectRows(rows, pgx.RowTo[[]*string])
	if err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	for i, w := range jobs {
		for n, c := range columns {
			w.texts[c.name] = read[i][n]
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

// isServers tells an error with which the server has answered.
func isServers(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer)
}
