package sql

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A dump brings rights, rows and triggers that nobody has given where it is restored. What matters
// ends its comment with a number that only this server gives it: its seal.

// sealed are the objects whose rights matter.
var sealed = []string{"leader", "group", "async"}

// seal are the statements that put the number of the object into its comment.
func seal(s step) string {
	what, number, catalog := "'TABLE ', :its_"+s.name+"_text", "pg_catalog.to_regclass(:its_"+s.name+"_text)", "'pg_catalog.pg_class'"
	if s.makes == "function" {
		what, catalog = "'FUNCTION ', :its_"+s.name+"_text, '()'", "'pg_catalog.pg_proc'"
		number = "pg_catalog.to_regprocedure(pg_catalog.concat(:its_" + s.name + "_text, '()'))"
	}
	return named(bareText("session/seal"), map[string]string{":number": number, ":what": what, ":catalog": catalog})
}

// takesBack are the statements that take from others their rights to a table or a function.
func takesBack(relation, function string) string {
	return named(bareText("session/take_back"), map[string]string{":relation": literal(relation), ":function": literal(function)})
}

// ending is that of a comment which says for what it was made.
var ending = regexp.MustCompile(` #[-0-9]*$`)

// here is how the comments end of what was made on this server, but for the number, as
// session/here.sql has it.
func here(ctx context.Context, conn *pgx.Conn) (end string, err error) {
	var tells bool
	var server string
	if err = conn.QueryRow(ctx, text("inspect/here")).Scan(&tells); err == nil && tells {
		err = conn.QueryRow(ctx, "SELECT s.system_identifier::pg_catalog.text FROM pg_catalog.pg_control_system() AS s").Scan(&server)
	}
	return " #" + server + "-", err
}

// isOf tells whether the object is of this build, and not brought by a dump.
func (b *foundBeside) isOf(build, here string) bool {
	return strings.Contains(b.Comment, build) && (!ending.MatchString(b.Comment) || b.isSealed(here))
}

// isSealed tells whether its comment says that no dump has brought it.
func (b *foundBeside) isSealed(here string) bool {
	return strings.HasSuffix(b.Comment, here+strconv.FormatInt(b.OID, 10))
}
