package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/door"
	"pgtaskd/work/target"
)

// Admit is an error where somebody who is not trusted could have code run as the session's role by a
// command that reads the target's table, or changes it. Who may write tasks is not trusted for that:
// the session need not be the serving role's.
func Admit(ctx context.Context, conn *pgx.Conn, t target.Target) error {
	at := atDoor(t, "")
	at.Inserter, at.Unlocked = true, true
	found, err := door.Look(ctx, conn, at)
	if err != nil {
		return fmt.Errorf("cannot look whom the table has to trust: %w", err)
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("%w; a command with a connection string has --trust", err)
	}
	return nil
}

// IsRefused tells an error by which the door refuses a table.
func IsRefused(err error) bool { return errors.As(err, new(*door.Refused)) }
