package work

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// brief runs a transaction of the control session that waits for locks briefly. Where that draws an
// id that is taken, it is run again: it must bear that. What may notify somebody, or draw an id, runs
// in one: where there is no room for that, it says so.
func (l *loop) brief(ctx context.Context, do func(pgx.Tx) error) error {
	err := pgx.BeginTxFunc(ctx, l.control.conn, pgx.TxOptions{BeginQuery: briefly}, do)
	switch {
	case isQueueFull(err):
		l.queueFull(err.Error())
	case isLack(err):
		l.lacking(err)
	}
	return err
}
