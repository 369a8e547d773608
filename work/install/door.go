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

// RefusedPause is the time between two looks at a refused table.
const RefusedPause = 30 * time.Second

// doorTick is the time between two looks of a leader at the door.
const doorTick = time.Hour

// atDoor returns everything that the door must know of a target.
func atDoor(t target.Target, path string) door.Target {
	return door.Target{Table: t.Relation(), Trust: t.Trust, Inserter: t.Inserter, Login: t.Connect["user"], Path: path}
}

// made returns a function that looks at objects that were just made for the target.
func made(t target.Target) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		found, err := door.Made(ctx, tx, atDoor(t, ""))
		if err != nil {
			return err
		}
		return found.Err()
	}
}

// lookBefore remembers the table's columns, so that a later change is noticed, and looks at the
// door. It is an error if the table has disappeared while the target was served.
func (t *Table) lookBefore(ctx context.Context) error {
	var columns *string
	err := t.Control.Row(ctx, "columns", []any{t.Target.Schema, t.Target.Table}, &columns, nil, nil, nil)
	switch {
	case err != nil:
		return err
	case columns == nil && *t.Served:
		return gone(t.Target)
	}
	t.columns = ""
	if columns != nil {
		t.columns = *columns
	}
	t.described = t.columns
	return t.lookAtDoor(ctx)
}

// lookAtDoor finds who could turn the table against us. An error: the table must not be served.
func (t *Table) lookAtDoor(ctx context.Context) error {
	if path, err := control.RoleSetting(ctx, t.Target, "search_path"); err == nil {
		t.searchPath = path
	} else if t.searchPath == "" { // a known path is enough: there may be no room for one more session
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

// Guard looks at the door again each hour. If the door refuses the table then, Refused has the
// reason, and the target must be drained.
func (t *Table) Guard(ctx context.Context) error {
	if time.Since(t.looked) < doorTick {
		return nil
	}
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := t.lookAtDoor(ctx)
	if IsRefused(err) {
		t.Refused = err
		return nil
	}
	return err
}

// found logs the findings of the door.
func (t *Table) found(all door.Findings) {
	for _, f := range all {
		text := f.String()
		if f.Grade == door.Note && *t.Served || !t.Log.Once(text, target.SayAgain) {
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

// Admit returns an error if somebody who is not trusted could have code run as the session's role,
// when a command reads or changes the table. The right to write tasks makes nobody trusted here:
// the session may have another role than the serving one.
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

// IsRefused reports whether the door has refused a table.
func IsRefused(err error) bool { return errors.As(err, new(*door.Refused)) }
