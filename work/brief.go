package work

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// brief runs a transaction of the control session that waits for locks briefly. Where that draws an
// id that is taken, it is run again: it must bear that.
func (l *loop) brief(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, l.control.conn, pgx.TxOptions{BeginQuery: briefly}, do)
}
