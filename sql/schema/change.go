package schema

import (
	"context"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Change is one thing that a table lacks.
type Change struct {
	What string // e.g. column priority
	SQL  string // the statements that make it
	// Optional tells that the table can be served without it: comments, storage options, triggers.
	Optional bool
	// Outdated tells that it is there, as another version of ours, a dump, or somebody has made it.
	Outdated bool
	// Failed is why it could not be made; the table is served without it.
	Failed error

	check  bool // a constraint, which rows that are there may violate
	beside bool // an object beside the table: where it cannot be made, the rest is made all the same
}

// Options are the settings that may differ from table to table.
type Options struct {
	Defaults    map[string]string // of columns, as the text of their values
	Wake        sql.Wake          // "": as Auto
	Role        string            // in DDL alone: is granted the rights to serve the table; "": nothing is granted
	Partitioned bool              // in DDL alone: the table is there, and partitioned
	Inserter    bool              // each task runs under the role that inserted it
	Serving     string            // the role that serves the table
	There       bool              // the table was there a moment ago: ErrGone if it is not
	Trust       []string          // in DDL alone: further roles that may own and make objects that the table uses

	Made func(context.Context, pgx.Tx) error // is called when all is made and not committed yet; may be nil

	Further bool // in DDL alone: a script for another table of the schema has made the objects that they share
}

// Version is the schema's version; the comments of the table and of the functions contain it.
// Objects with a higher one were made by a later pgtaskd and are not replaced.
const Version = 1

const versionPrefix = "pgtaskd schema "

var (
	versionText    = versionPrefix + strconv.Itoa(Version)
	versionPattern = regexp.MustCompile(regexp.QuoteMeta(versionPrefix) + `(\d+)`)
)

// versionOf is the schema's version in a comment; 0: none.
func versionOf(comment string) int {
	match := versionPattern.FindStringSubmatch(comment)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1])
	return n
}
