package schema

import (
	"context"
	"fmt"
	"strings"

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
	do := run
	if c.beside || c.check {
		do = attempt
	}
	err := do(ctx, tx, c.SQL)
	if c.check && isState(err, "23514") {
		c.SQL = c.SQL[:len(c.SQL)-len(";")] + " NOT VALID;"
		err = run(ctx, tx, c.SQL)
	}
	if isState(err, "42501") {
		return fmt.Errorf("needs %s: %w", c.right(), err)
	}
	return err
}

// right is what the change takes. The server's refusal names the object alone.
func (c *Change) right() string {
	kind, _, _ := strings.Cut(c.What, " ")
	switch {
	case kind == "schema":
		return "CREATE on the database"
	case !c.Outdated && (kind == "table" || kind == "type" || kind == "function"):
		return "CREATE on the schema"
	}
	return "ownership"
}
