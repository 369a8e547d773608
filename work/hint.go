package work

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/routine"
)

// hints say what to do about errors whose own text does not, whatever the target.
var hints = map[string]string{
	"25006": "tasks wait until the server takes writes",
	"28000": "the role must have LOGIN, and pg_hba.conf must let it in from here",
	"28P01": "the password in the dsn, or in the password file, must be that of the role",
	"42501": "GRANT the missing right to the role; for what only an owner may do, ALTER … OWNER TO the role, or run the output of pgtaskd schema --config FILE as the owner",
	"42703": "a column that pgtaskd needs is missing",
	"53100": "tasks wait until there is room on the server's disk",
	"53200": "tasks wait until the server has memory",
	"53300": "raise max_connections, or the CONNECTION LIMIT of the role or the database, or lower run",
	"55P03": "tasks wait until the table is unlocked",
	"57014": "a statement of pgtaskd took too long, or was cancelled",
	"57P03": "tasks wait until the server is up",
}

// hint says what to do about an error of the server's; "" where its own text does. Only a restart
// makes what has been there while the target was served.
func (t Target) hint(err error, served bool) string {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return ""
	}
	restart := ""
	if served && t.Create {
		restart = ", or restart pgtaskd, which creates it"
	}
	switch answer.Code {
	case "3D000":
		switch {
		case t.makesDatabase():
			return "create or restore the database" + restart
		case t.Create:
			return "create the database; pgtaskd creates it only if the dsn names a user and a different database"
		}
		return "create or restore the database"
	case "3F000":
		return "create or restore the schema" + restart
	case "42P01":
		return "create or restore the table" + restart
	}
	return hints[answer.Code]
}

// makesDatabase tells whether the dsn leads to where the target's database could be made.
func (t Target) makesDatabase() bool {
	return t.Create && remote.NamesUser(t.Admin) && t.adminDatabase() != t.Connect["dbname"]
}

// advised adds an error to a line of the log, with what to do about it.
func (t Target) advised(line *zerolog.Event, err error, served bool) *zerolog.Event {
	line = line.Err(err)
	if hint := t.hint(err, served); hint != "" {
		line = line.Str("hint", hint)
	}
	var p *routine.Panic
	if errors.As(err, &p) {
		line = line.Bytes("stack", p.Stack)
	}
	return line
}
