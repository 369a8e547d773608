package sql

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Change is one thing that a table lacks.
type Change struct {
	What string // e.g. column priority
	SQL  string // what makes it; several statements, maybe
	// Optional tells that the table can be served without it: comments, storage options, triggers.
	Optional bool
	// Outdated tells that it is there, as another version of ours, a dump, or somebody has made it.
	Outdated bool
	// Failed is why it could not be made; the table is served without it.
	Failed error

	alone bool // must be committed before what follows can be made
	check bool // a constraint, which rows that are there may violate

	beside bool // an object beside the table: where it cannot be made, the rest is made all the same
}

// make runs the change. A constraint that rows violate holds for new rows alone.
func (c *Change) make(ctx context.Context, tx pgx.Tx) error {
	if !c.beside && !c.check {
		return run(ctx, tx, c.SQL)
	}
	err := attempt(ctx, tx, c.SQL)
	if c.check && isState(err, "23514") {
		c.SQL = c.SQL[:len(c.SQL)-len(";")] + " NOT VALID;"
		err = run(ctx, tx, c.SQL)
	}
	return err
}
