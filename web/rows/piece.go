package rows

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Texts are the columns that may be long, and can be read in pieces.
var Texts = []string{"error", "output", "notice", "input", "data"}

// Piece is a part of a text of a task.
type Piece struct {
	Text    []byte `db:"text"`
	Whole   int64  `db:"whole"`   // length of the whole text in bytes; -1: it is NULL
	Version string `db:"version"` // of the row: another one may have another text
}

// Piece reads at most most bytes of one of Texts, after the first from bytes; nil if there is no
// such row. The server needs time and memory for the whole text each time, about a second for 1 GB:
// so pieces should not be small.
func (b *Table) Piece(ctx context.Context, id int64, column string, from, most int64) (*Piece, error) {
	if !slices.Contains(Texts, column) {
		return nil, errors.New("there is no text " + column)
	}
	rows, err := b.conn.Query(ctx, b.Statement("piece", map[string]string{":column": column}), id, from, most)
	if err != nil {
		return nil, slow(err)
	}
	piece, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Piece])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return piece, slow(err)
}
