package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// errNoJob is the error for a key that no row has.
var errNoJob = errors.New("no task has this key")

// RunNow inserts a copy of a job, which runs once, as soon as its lane allows, and returns its id.
// It copies no job of another role. inserter: the configuration runs each task under the role that
// inserted it.
func RunNow(ctx context.Context, conn *pgx.Conn, name sql.Table, key string, inserter bool) (id int64, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	t, err := describe(ctx, tx, name, inserter)
	if err != nil {
		return 0, err
	}
	copied := t.where(func(c *column) bool {
		return c.copied && c.name != "key" && c.name != "repeat" && c.name != "cron"
	})
	statement := t.statement("run_now", words{":copied": quotedNames(copied), ":role": t.roleOf()})
	found := row{key: key}
	var made *int64
	err = tx.QueryRow(ctx, statement, key, t.role).Scan(&found.id, &found.role, &made)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("%w: %q", errNoJob, key)
	case err != nil:
		return 0, err
	case t.others(found):
		return 0, errors.New(t.ofRole(found, "run-now would run it"))
	case made == nil:
		return 0, errNotInserted
	}
	return *made, tx.Commit(ctx)
}

var errNotInserted = errors.New("a trigger of the table does not let the copy be inserted")
