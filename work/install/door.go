package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/door"
	"pgtaskd/work/target"
)

// RefusedPause is the time between two looks at a table that is refused.
const RefusedPause = 30 * time.Second

// doorTick is the time between two looks of a leader.
const doorTick = time.Hour

// atDoor is what the door has to know of a target.
func atDoor(t target.Target, path string) door.Target {
	return door.Target{Table: t.Relation(), Trust: t.Trust, Inserter: t.Inserter, Login: t.Connect["user"], Path: path}
}

// made looks at what was just made for the target, whoever has made it.
func made(t target.Target) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		found, err := door.Made(ctx, tx, atDoor(t, ""))
		if err != nil {
			return err
		}
		return found.Err()
	}
}

// lookBefore reads what the table is like, so that a later change is noticed, and looks at the door. It
// is an error if the table was there while the target was served, and is no more.
func (t *Table) lookBefore(ctx context.Context) error {
	var columns *string
	err := t.Control.Row(ctx, "columns", []any{t.Target.Schema, t.Target.Table}, &columns, nil, nil, nil)
	switch {
	case err != nil:
		return err
	case columns == nil && t.Served():
		return gone(t.Target)
	}
	t.columns = ""
	if columns != nil {
		t.columns = *columns
	}
	t.described = t.columns
	return t.lookAtDoor(ctx)
}

// lookAtDoor finds who could turn the table against us, and is an error if it is not to be served.
func (t *Table) lookAtDoor(ctx context.Context) error {
	if path, err := control.RoleSetting(ctx, t.Target, "search_path"); err == nil {
		t.searchPath = path
	} else if t.searchPath == "" { // else there may be no room for one more session
		return err
	}
	found, err := door.Look(ctx, t.Control.Conn(), atDoor(t.Target, t.searchPath))
	if err != nil {
		return err
	}
	t.looked, t.open = time.Now(), found.Open()
	t.found(found)
	return found.Err()
}

// Guard looks at the door again each hour. When that refuses the table, the target is drained, and
// Refused says why.
func (t *Table) Guard(ctx context.Context) error {
	if time.Since(t.looked) < doorTick {
		return nil
	}
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := t.lookAtDoor(ctx)
	if IsRefused(err) {
		t.Refused = err
		t.Drain()
		return nil
	}
	return err
}

// found logs what the door has found.
func (t *Table) found(all door.Findings) {
	for _, f := range all {
		text := f.String()
		if f.Grade == door.Note && t.Served() || !t.Log.Once(text, target.SayAgain) {
			continue
		}
		line := t.Log.Info()
		switch f.Grade {
		case door.Refuse:
			line = t.Log.Error().Str("retry_in", RefusedPause.String())
		case door.Warn:
			line = t.Log.Warn()
		}
		line.Str("grade", string(f.Grade)).Msg(human.Visible(text))
	}
}

// Admit is an error if somebody who is not trusted could have code run as the session's role by a
// command that reads or changes the target's table. The right to write tasks does not make trusted here:
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
