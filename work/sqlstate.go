package work

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/routine"
)

// hasState tells whether err is an answer of the server with one of the SQLSTATEs.
func hasState(err error, states ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(states, answer.Code)
}

// advice says what to do about errors whose own text does not.
var advice = map[string]string{
	"25006": "tasks wait until the server takes writes",
	"28000": "the role must have LOGIN, and pg_hba.conf must let it in from here",
	"28P01": "the password in the dsn, or in the password file, must be that of the role",
	"3D000": "create or restore the database, or start pgtaskd anew to have it made",
	"3F000": "create or restore the schema, or start pgtaskd anew to have it made",
	"42P01": "create or restore the table, or start pgtaskd anew to have it made",
	"42501": "GRANT the role the right that is missing",
	"42703": "the table has lost a column that is needed",
	"53100": "tasks wait until there is room on the server's disk",
	"53200": "tasks wait until the server has memory",
	"53300": "raise max_connections, or the CONNECTION LIMIT of the role or the database, or lower run",
	"55P03": "tasks wait until the table is not locked any more",
	"57014": "a statement of pgtaskd's own took too long, or was cancelled",
	"57P03": "tasks wait until the server is up",
}

// advised adds an error to a line of the log, with what to do about it.
func advised(line *zerolog.Event, err error) *zerolog.Event {
	line = line.Err(err)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && advice[answer.Code] != "" {
		line = line.Str("hint", advice[answer.Code])
	}
	var p *routine.Panic
	if errors.As(err, &p) {
		line = line.Bytes("stack", p.Stack)
	}
	return line
}
