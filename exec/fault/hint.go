package fault

import (
	"crypto/x509"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/routine"
)

// hints say what to do about errors whose own text does not say it.
var hints = map[string]string{
	"25006":  "tasks wait until the server takes writes",
	"28000":  "the role must exist and have LOGIN: CREATE ROLE … LOGIN, or ALTER ROLE … LOGIN; if it has another name now, correct user or the dsn",
	"3D000":  "create or restore the database; pgtaskd creates it at its start, if the dsn names a user and another database",
	"3F000":  "create or restore the schema; pgtaskd creates it at its start",
	"28P01":  "the password in the dsn, or in the password file, must be that of the role; the server says the same of a role that does not exist, or has another name now",
	"42P01":  "create or restore the table; pgtaskd creates it at its start",
	"42501":  "GRANT the missing right to the role; for what only an owner may do, ALTER … OWNER TO the role, or run the output of pgtaskd schema --config FILE as the owner",
	"42703":  "a column that pgtaskd needs is missing",
	DiskFull: "tasks wait until there is room on the server's disk",
	"53200":  "tasks wait until the server has memory",
	"53300":  "raise max_connections, or the CONNECTION LIMIT of the role or the database, or lower run: a target needs run + 2",
	"55P03":  "tasks wait until it is unlocked; pg_locks shows who has what",
	"57014":  "a statement of pgtaskd took too long, or was cancelled; if there are many, see the statement_timeout of the role and the database",
	"57P03":  "tasks wait until the server is up",
	"58P01":  "if that is a library, the settings of the role or the database name it: ALTER ROLE … RESET, or ALTER DATABASE … RESET",
}

// Hint says what to do about a server's error; "" if there is no hint.
func Hint(err error) string {
	var known interface{ Hint() string }
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &known):
		return known.Hint()
	case !errors.As(err, &answer):
		return tlsHint(err)
	case answer.Code == "28000" && answer.Routine == "ClientAuthentication":
		if strings.Contains(err.Error(), "no encryption") || strings.Contains(err.Error(), "SSL off") {
			return "pg_hba.conf does not let the role in from here without TLS: sslmode=require in the dsn, or a line there that does"
		}
		return "pg_hba.conf must let the role into this database from here"
	case answer.Code == "28000" && answer.Routine == "auth_failed":
		return "the server does not ask for a password, but for a user of the operating system or a certificate (peer, ident, cert): map it to the role in pg_ident.conf, or give host=localhost and a password"
	case answer.Where != "" && Has(err, "42P01", "42883", "42704", "3F000"): // search_path does not find a name
		context, _, _ := strings.Cut(answer.Where, "\n")
		return human.Legible(context) + ": an event trigger or trigger that names something without its schema: ALTER FUNCTION … SET search_path"
	case answer.Code == "08P01" && strings.Contains(answer.Message, "startup parameter"):
		return "connect to the server itself, not to a pooler"
	case answer.Code == "53200" && strings.Contains(answer.Hint, "max_locks_per_transaction"): // true in any language
		return "the server's table of locks is full: see in pg_locks who holds so many and end those sessions, or raise max_locks_per_transaction"
	}
	return hints[answer.Code]
}

// tlsHint says what to do about a connection that TLS prevents.
func tlsHint(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		return "sslrootcert in the dsn must name the certificate of the authority (CA) that has signed the server's"
	case errors.As(err, &name):
		return "the server's certificate is for other names: connect to one of them, or sslmode=verify-ca in the dsn"
	case errors.As(err, &invalid):
		return "the server needs another certificate, or sslrootcert in the dsn names the wrong one"
	case err != nil && strings.HasSuffix(err.Error(), "server refused TLS connection"):
		return "the server has no TLS: ssl = on there, or sslmode=disable in the dsn"
	}
	return ""
}

// Advised adds an error and its hint to a line of the log.
func Advised(line *zerolog.Event, err error) *zerolog.Event {
	line = line.Err(err)
	if hint := Hint(err); hint != "" {
		line = line.Str("hint", hint)
	}
	var p *routine.Panic
	if errors.As(err, &p) {
		line = line.Bytes("stack", p.Stack)
	}
	return line
}
