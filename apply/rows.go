package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
)

// row is a row that waits or runs.
type row struct {
	id      int64
	key     string
	owner   *string
	role    *string // nil: NULL, or there is no column role
	running bool
	paused  *string            // why it is paused; nil: it is not
	texts   map[string]*string // the compared columns
}

// rowsByKey has the rows of each key, waiting rows first.
type rowsByKey map[string][]row

// lockRows returns the rows of the jobs and of the owner, locked until the transaction ends. While
// it waits for a lock, the run of that row can end and commit a repetition. So it reads again,
// until it sees only rows that it has locked before. Each read sees one moment, so it always finds
// a row of a series. A row of another role is an error: it would run our values under that role.
func (t *table) lockRows(ctx context.Context, tx pgx.Tx, all []*wanted, owner string) (rowsByKey, error) {
	for locked := map[int64]bool{}; ; {
		rows, err := t.open(ctx, tx, all, owner)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, found := range rows {
			for _, r := range found {
				if !locked[r.id] {
					locked[r.id] = true
					ids = append(ids, r.id)
				}
			}
		}
		if len(ids) == 0 {
			return rows, t.ofOthers(all, rows)
		}
		if _, err := tx.Exec(ctx, t.statement("lock", nil), ids); err != nil {
			return nil, err
		}
	}
}

func (t *table) open(ctx context.Context, tx pgx.Tx, all []*wanted, owner string) (rowsByKey, error) {
	columns := t.toCompare(all)
	keys := make([]string, len(all))
	for i, w := range all {
		keys[i] = w.job.Key
	}
	statement := t.statement("open", words{":texts": texts("t", columns), ":role": t.roleOf()})
	rows, err := tx.Query(ctx, statement, keys, owner)
	if err != nil {
		return nil, err
	}
	found := rowsByKey{}
	for rows.Next() {
		var r row
		var values []*string
		if err := rows.Scan(&r.id, &r.key, &r.owner, &r.role, &r.running, &r.paused, &values); err != nil {
			rows.Close()
			return nil, err
		}
		r.texts = make(map[string]*string, len(columns))
		for i, c := range columns {
			r.texts[c.name] = values[i]
		}
		found[r.key] = append(found[r.key], r)
	}
	return found, rows.Err()
}

// roleOf returns the expression for a row's role, as text.
func (t *table) roleOf() string {
	if t.role == "" {
		return "NULL::pg_catalog.text"
	}
	return "t.role"
}

// toCompare returns the standard columns of a task table, and the user's columns that a job names.
func (t *table) toCompare(all []*wanted) []*column {
	return t.where(func(c *column) bool { return c.compared() && (c.own || named(all, c)) })
}

// differences returns the columns in which a row differs from a job.
func (t *table) differences(w *wanted, r row) []*column {
	return t.where(func(c *column) bool {
		value, compared := w.texts[c.name]
		return c.compared() && compared && !same(value, r.texts[c.name])
	})
}

// others reports whether a row belongs to another role than the one that inserts.
func (t *table) others(r row) bool { return t.role != "" && (r.role == nil || *r.role != t.role) }

// ofOthers reports jobs with rows that would run under another role.
func (t *table) ofOthers(all []*wanted, rows rowsByKey) error {
	return refused(all, rows, t.others, func(r row) string { return t.ofRole(r, "these jobs run") })
}

// refused returns a fault for each job that has a wrong row.
func refused(all []*wanted, rows rowsByKey, wrong func(row) bool, why func(row) string) error {
	var faults conf.Faults
	for _, w := range all {
		if i := slices.IndexFunc(rows[w.job.Key], wrong); i >= 0 {
			faults.Add(w.job.at, "%s", why(rows[w.job.Key][i]))
		}
	}
	return faults.Err()
}

// ofRole says that a row belongs to another role, and how to solve that.
func (t *table) ofRole(r row, ours string) string {
	role := ""
	if r.role != nil {
		role = *r.role
	}
	return fmt.Sprintf("task %d has the key %q and belongs to role %q, and %s as role %q: ask the role to delete it, or delete it (stop it first if it runs)",
		r.id, r.key, role, ours, t.role)
}

// foreign reports jobs that belong to another owner.
func foreign(all []*wanted, rows rowsByKey, owner string) error {
	others := func(r row) bool { return r.owner != nil && *r.owner != owner }
	return refused(all, rows, others, func(r row) string {
		return fmt.Sprintf("the job %q belongs to owner %q; take it out there first, or set the column owner of its row to %q",
			r.key, *r.owner, owner)
	})
}
