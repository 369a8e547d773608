package work

import (
	"context"
	"fmt"

	"pgtaskd/sql"
)

// lockedOut is the error of a table that somebody has locked for longer than we wait.
type lockedOut struct {
	table   sql.Table
	holders string
	cause   error
}

func (l *lockedOut) Error() string {
	return fmt.Sprintf("table %s is locked by %s", l.table, l.holders)
}
func (l *lockedOut) Unwrap() error { return l.cause }

// diagnose finds better words for an error that has ended leadership, or not let it begin: what the
// table lacks, who has locked it.
func (l *loop) diagnose(ctx context.Context, err error) error {
	switch {
	case hasState(err, "55P03"):
		holders, unknown := sql.Holders(ctx, l.control.conn, table(l.target))
		if unknown == nil && holders != "" {
			return &lockedOut{table(l.target), holders, err}
		}
	case hasState(err, "25006"): // while a server in recovery is not led
		return errReadOnly
	case l.trouble.served && hasState(err, "42501", "42P01", "42703", "3F000"):
		if better := l.install(ctx); better != nil {
			return better
		}
	}
	return err
}
