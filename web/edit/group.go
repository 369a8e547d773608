package edit

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
)

// GroupColumns are the columns of the table of groups that people change.
var GroupColumns = []string{"paused", "until", "slots", "rate", "per", "note"}

// Group changes the row of a group, or makes it. columns has the new values as text; nil is NULL.
// The value of until is in its own parameter.
func Group(ctx context.Context, b *rows.Table, by, group string, columns map[string]*string, until pgtype.Timestamptz) error {
	if !b.Has("group") {
		return Refuse(http.StatusConflict, "there is no table %s: pgtaskd run makes it, and its log says what is in the way", sql.Beside(b.Name, "group"))
	}
	args := []any{group}
	var given []string
	for _, name := range GroupColumns {
		value, ok := columns[name]
		if ok {
			given = append(given, name)
		}
		if name == "until" {
			args = append(args, until)
		} else {
			args = append(args, value)
		}
	}
	_, err := b.Tx().Exec(ctx, b.Statement("act_group", nil), append(args, given)...)
	if err != nil {
		return answered(err, groupStatus(err))
	}
	recorded := map[string]*string{"group": &group}
	for name, value := range columns {
		recorded[name] = value
	}
	return record(ctx, b, Doing{Do: "group", By: by}, nil, recorded)
}

// groupStatus: values that the table refuses are the sender's mistake.
func groupStatus(err error) int {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && (answer.Code[:2] == "22" || answer.Code[:2] == "23") {
		return http.StatusBadRequest
	}
	return http.StatusConflict
}
