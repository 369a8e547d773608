package edit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/web/rows"
)

// Doing is an act on tasks.
type Doing struct {
	Do   string  // one of Verbs
	By   string  // who does it
	Data *string // of the copies of run; nil: that of the task
}

// Refused is an act that cannot be done; Text says why.
type Refused struct {
	Status int // of HTTP
	Text   string
}

func (r *Refused) Error() string { return r.Text }

// Refuse returns a *Refused.
func Refuse(status int, format string, args ...any) error {
	return &Refused{status, fmt.Sprintf(format, args...)}
}

// answered turns an error of the server about what was asked into a Refused. Other errors stay.
func answered(err error, status int) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code[:2] {
	case "08", "53", "57", "58", "XX": // the server has a problem
		return err
	}
	text := answer.Message
	if answer.Code == "55P03" {
		text = "somebody has locked the row, or its table: try again"
	}
	if answer.Detail != "" {
		text += " (" + answer.Detail + ")"
	}
	return &Refused{status, text}
}

// words are the words of the statements on tasks. those selects the tasks by the row t; text and
// data are expressions for the error of what is cancelled, and for the data of a copy.
func words(ctx context.Context, b *rows.Table, do, those, text, data string) (map[string]string, error) {
	w := map[string]string{":those": those, ":error": text, ":data": data, ":role_of_row": "NULL::text"}
	if do != "run" {
		return w, nil
	}
	var copied, of string
	var roles bool
	but := append(schema.NotCopied(), "repeat", "cron", "key", "data")
	err := b.Tx().QueryRow(ctx, b.Statement("act_columns", nil), b.Name.Schema, b.Name.Name, but).Scan(&copied, &of, &roles)
	w[":copied"], w[":copied_of_t"] = copied, of
	if roles {
		w[":role_of_row"], w[":and_can_run"] = "t.role", "AND "+sql.Named(":can_run", nil)
	} else {
		w[":can_run"], w[":and_can_run"] = "true", ""
	}
	return w, err
}

// words are those of a statement whose parameters are ids, and what the act needs besides.
func (d Doing) words(ctx context.Context, b *rows.Table) (map[string]string, error) {
	return words(ctx, b, d.Do, "t.id = ANY ($1::int8[])", "$2::text", "coalesce($2::text, t.data)")
}

// change does an act to tasks, and returns how many it has changed.
func (d Doing) change(ctx context.Context, b *rows.Table, w map[string]string, ids []int64) (int64, error) {
	args := []any{ids}
	switch d.Do {
	case "cancel":
		args = append(args, cancelled(d.By))
	case "run":
		args = append(args, d.Data)
	}
	done, err := b.Tx().Exec(ctx, b.Statement("act_"+d.Do, w), args...)
	return done.RowsAffected(), err
}

// cancelled is the error of a task that was cancelled while it waited.
func cancelled(by string) string { return "ERROR:  task was cancelled by " + by }

// One does an act to one task. A *Refused says why it cannot.
func One(ctx context.Context, b *rows.Table, d Doing, id int64) error {
	w, err := d.words(ctx, b)
	if err != nil {
		return err
	}
	var was before
	err = b.Tx().QueryRow(ctx, b.Statement("act_before", w), id).Scan(&was.state, &was.ended, &was.stopping, &was.role)
	if errors.Is(err, pgx.ErrNoRows) {
		return Refuse(http.StatusNotFound, "there is no task %d", id)
	}
	var n int64
	if err == nil {
		n, err = d.change(ctx, b, w, []int64{id})
	}
	if err != nil {
		return answered(err, http.StatusConflict)
	}
	if n == 0 {
		return Refuse(http.StatusConflict, "task %d is left alone: %s", id, was.refusal(d.Do))
	}
	return nil
}

// Record writes an act on one task into the table of acts.
func Record(ctx context.Context, b *rows.Table, d Doing, id int64) error {
	return record(ctx, b, d, &id, nil)
}

// record writes an act that is done into the table of acts, if that is there. What keeps it from
// that keeps nobody from acting on one task.
func record(ctx context.Context, b *rows.Table, d Doing, id *int64, columns map[string]*string) error {
	if !b.Has("act") {
		return nil
	}
	err := b.Apart(ctx, func() error {
		var filter any
		if columns != nil {
			filter = columns
		}
		_, err := b.Tx().Exec(ctx, b.Statement("act_record", nil), d.By, d.Do, id, filter, d.Data)
		return err
	})
	var answer *pgconn.PgError
	if b.Tx().Conn().IsClosed() || !errors.As(err, &answer) {
		return err
	}
	return nil
}
