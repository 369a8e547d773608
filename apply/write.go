package apply

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/conf"
)

// write inserts jobs that have no rows, updates the rows of the others where they differ, and
// returns all rows as they are then.
func (t *table) write(ctx context.Context, tx pgx.Tx, all []*wanted, rows rowsByKey, owner string) (rowsByKey, error) {
	for _, w := range all {
		var err error
		if found := rows[w.job.Key]; len(found) > 0 {
			for _, r := range found {
				err = errors.Join(err, t.update(ctx, tx, w, r, owner))
			}
		} else if !w.expired {
			names := words{":columns": quotedNames(w.named), ":typed": typed(w.named)}
			err = t.run(ctx, tx, "insert", names, w.object(w.named), owner)
		}
		if err != nil {
			return nil, w.placed(err)
		}
	}
	return t.lockRows(ctx, tx, all, owner)
}

func (t *table) update(ctx context.Context, tx pgx.Tx, w *wanted, r row, owner string) error {
	columns := t.differences(w, r)
	switch {
	case len(columns) > 0:
	case r.owner != nil:
		return nil
	default: // adopted: an UPDATE needs a column, and sets the owner, too
		columns = []*column{t.byName["key"]}
	}
	assigned := listed(columns, func(c *column) string { return c.quoted() + " = r." + c.quoted() })
	return t.run(ctx, tx, "update", words{":assigned": assigned, ":typed": typed(columns)}, w.object(columns), owner, r.id)
}

var errUnmoved = errors.New("a trigger or a policy of the table keeps the row as it is")

// run runs a statement that writes one row.
func (t *table) run(ctx context.Context, tx pgx.Tx, name string, names words, args ...any) error {
	var id int64
	err := tx.QueryRow(ctx, t.statement(name, names), args...).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return errUnmoved
	}
	return err
}

// placed adds the position in the file to a server's error. It omits the detail, which can show a
// whole row, unless a trigger raised it.
func (w *wanted) placed(err error) error {
	at, text := w.job.at, errUnmoved.Error()
	var answer *pgconn.PgError
	switch {
	case errors.Is(err, errUnmoved):
	case errors.As(err, &answer) && !crossed(err):
		text = answer.Message
		if f, named := w.job.named[answer.ColumnName]; named {
			at = f.value.at
		}
		if raised := answer.Routine == "exec_stmt_raise"; raised && answer.Detail != "" {
			text += ": " + answer.Detail
		}
		if answer.Hint != "" {
			text += " (" + answer.Hint + ")"
		}
	default:
		return err
	}
	return conf.Faults{{Position: at, Message: text}}
}

// prune removes the owner's jobs that are in no file; without o.Prune it only finds them. The map
// says for each key whether it runs. A running task that no longer repeats is pruned already.
func (t *table) prune(ctx context.Context, tx pgx.Tx, all []*wanted, rows rowsByKey, o Options) (map[string]bool, error) {
	pruned, named := map[string]bool{}, map[string]bool{}
	for _, w := range all {
		named[w.job.Key] = true
	}
	for key, found := range rows {
		if named[key] {
			continue
		}
		for _, r := range found {
			name := "prune"
			switch {
			case r.owner == nil || *r.owner != o.Owner:
				continue
			case r.running && r.texts["cron"] == nil && same(r.texts["repeat"], new("00:00:00")):
				continue
			case r.running:
				name = "end"
			}
			pruned[key] = pruned[key] || r.running
			if !o.Prune {
				continue
			}
			if err := t.run(ctx, tx, name, nil, r.id); err != nil {
				return nil, err
			}
		}
	}
	return pruned, nil
}
