package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/door"
	"pgtaskd/work/target"
)

const (
	doorTick  = time.Hour        // between two looks of a leader
	doorPause = 30 * time.Second // between two looks at a table that is refused
)

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

// entrance is what is known of the door.
type entrance struct {
	path    string // the role's search_path; "": not known
	open    bool   // everybody may create something in it
	looked  time.Time
	refused *door.Refused // why we drain, where the table is not to be served any more
}

// lookAtDoor finds who could turn the table against us, and is an error if it is not to be served.
func (l *loop) lookAtDoor(ctx context.Context) error {
	e := &l.entrance
	if path, err := control.RoleSetting(ctx, l.target, "search_path"); err == nil {
		e.path = path
	} else if e.path == "" { // else there may be no room for one more session
		return err
	}
	found, err := door.Look(ctx, l.control.Conn(), atDoor(l.target, e.path))
	if err != nil {
		return err
	}
	e.looked, e.open = time.Now(), found.Open()
	l.trouble.found(found)
	return found.Err()
}

// guard looks again each hour. A refusal drains the target.
func (l *loop) guard(ctx context.Context) error {
	if time.Since(l.entrance.looked) < doorTick || !l.draining.IsZero() {
		return nil
	}
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := l.lookAtDoor(ctx)
	if errors.As(err, &l.entrance.refused) {
		l.drain()
		return nil
	}
	return err
}

// found logs what the door has found.
func (t *trouble) found(all door.Findings) {
	for _, f := range all {
		text := f.String()
		if f.Grade == door.Note && t.served || !t.log.Once(text, target.SayAgain) {
			continue
		}
		line := t.log.Info()
		switch f.Grade {
		case door.Refuse:
			line = t.log.Error().Str("retry_in", doorPause.String())
		case door.Warn:
			line = t.log.Warn()
		}
		line.Str("grade", string(f.Grade)).Msg(human.Visible(text))
	}
}

// door reports what the door finds; false: nothing is to be made, or tried.
func (r *Report) door(ctx context.Context, conn *pgx.Conn, t target.Target) (open bool) {
	path, err := control.RoleSetting(ctx, t, "search_path")
	if err != nil {
		r.failed("", err)
		return false
	}
	found, err := door.Look(ctx, conn, atDoor(t, path))
	if err != nil {
		r.failed("cannot look whom the table has to trust: ", err)
		return false
	}
	for _, f := range found {
		switch f.Grade {
		case door.Refuse:
			r.fault("%s", f)
		case door.Warn:
			r.doubt("%s", f)
		default:
			r.Notes = append(r.Notes, f.String())
		}
	}
	return found.Err() == nil
}
