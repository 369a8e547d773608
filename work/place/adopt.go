package place

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
)

// Ways of adopting a copy: everything goes on, or what waits is paused or given up.
const (
	All    = "all"
	Paused = "paused"
	Gone   = "gone"
)

const carriedAtOnce = 5000 // tasks

// Adopt lets the copy be led where it is. It first changes the tasks as the way says, in steps of
// which each is committed; if it is interrupted, the table is still a copy.
func Adopt(ctx context.Context, conn *pgx.Conn, f Found, way string) (changed int64, err error) {
	if f.Stale {
		return 0, f.Err()
	}
	q := query.Of(schema.Description{}, f.table)
	due, id := "-infinity", int64(math.MinInt64)
	for {
		var n int64
		err := conn.QueryRow(ctx, q.Text("carry"), way, due, id, carriedAtOnce, f.Reason()).Scan(&n, &due, &id)
		if errors.Is(err, pgx.ErrNoRows) {
			break
		} else if err != nil {
			return changed, err
		}
		changed += n
	}
	f.Place.Adopted = time.Now().UTC()
	written, err := json.Marshal(f.Place)
	if err != nil {
		return changed, err
	}
	_, err = conn.Exec(ctx, q.Text("adopt"), string(written))
	if err != nil {
		err = fmt.Errorf("cannot write that the table is adopted: %w", err)
	}
	return changed, err
}
