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
	"pgtaskd/work/place"
	"pgtaskd/work/target"
)

// Times between two looks at a refused table, and at a copy, which goes on as soon as somebody has
// adopted it.
const (
	RefusedPause = 30 * time.Second
	copyPause    = 5 * time.Second
)

// RetryOf returns how long to wait after this refusal.
func RetryOf(err error) time.Duration {
	if IsCopy(err) {
		return copyPause
	}
	return RefusedPause
}

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
	if err := t.lookAtDoor(ctx); err != nil {
		return err
	}
	return t.lookAtPlace(ctx)
}

// lookAtPlace finds out where the table is. An error: it is a copy that nobody has adopted.
func (t *Table) lookAtPlace(ctx context.Context) error {
	found, err := place.Look(ctx, t.Control.Conn(), t.Target, t.Places)
	if err != nil {
		return err
	}
	t.place = found.Place
	if lacks := found.Lacks(t.Control.Facts().Role); lacks != "" {
		t.without(lacks)
	}
	if found.Say != "" && t.Log.Once(found.Say, target.SayAgain) {
		t.Log.Info().Msg(found.Say)
	}
	err = found.Err()
	if refused := (*place.Refused)(nil); errors.As(err, &refused) && t.Log.Once(refused.Key(), target.SayAgain) {
		t.Log.Error().Str("retry_in", RetryOf(err).String()).Msg(human.Visible(err.Error()))
	}
	return err
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

// IsRefused reports whether the table must not be served: the door has refused it, or it is a copy.
func IsRefused(err error) bool { return errors.As(err, new(*door.Refused)) || IsCopy(err) }

// IsCopy reports whether the table is a copy that nobody has adopted.
func IsCopy(err error) bool { return errors.As(err, new(*place.Refused)) }
