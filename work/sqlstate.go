package work

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// hasState tells whether err is an answer of the server with one of the SQLSTATEs.
func hasState(err error, states ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(states, answer.Code)
}
