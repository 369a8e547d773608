package rows

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"
)

// Failure is a group of errors with the same SQLSTATE and first line.
type Failure struct {
	SQLState *string            `json:"sqlstate" db:"sqlstate"`
	Error    string             `json:"error" db:"error"`
	Count    int64              `json:"count" db:"count"`
	First    pgtype.Timestamptz `json:"first" db:"first"`
	Last     pgtype.Timestamptz `json:"last" db:"last"`
	Example  int64              `json:"example" db:"example"` // the id of one of them
}

// Failures returns the errors of the newest 100,000 ids, most of them first.
func (b *Table) Failures(ctx context.Context, most int) ([]Failure, error) {
	return list[Failure](ctx, b, "errors", most)
}
