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
	SQL  string // statements that make it
	// Optional: the table can be served without it. So are comments, storage options and triggers.
	Optional bool
	// Later: a version before did without it, and the table can be served so if it may not be changed.
	Later bool
	// Outdated: the object exists, but another version, a dump or a person has made it.
	Outdated bool
	// Failed is why it could not be made; the table is served without it.
	Failed error

	check  bool // a constraint; existing rows may violate it
	beside bool // an object beside the table; if it cannot be made, the rest still is
}

// Options are the settings that may differ from table to table.
type Options struct {
	Defaults    map[string]string // of columns, as the text of their values
	Wake        sql.Wake          // an empty value: Auto
	Role        string            // only for DDL: gets the rights to serve the table; empty: nobody does
	Partitioned bool              // only for DDL: the table exists and is partitioned
	Inserter    bool              // each task runs under the role that inserted it
	Serving     string            // the role that serves the table
	There       bool              // the table existed a moment ago: ErrGone if it is gone
	Trust       []string          // only for DDL: more roles that may own and make objects that the table uses

	Made func(context.Context, pgx.Tx) error // called when all is made but not committed; may be nil

	Further bool // only for DDL: the script for another table of the schema has made the shared objects
}

// Version is the schema's version; comments of the table and the functions contain it. Objects with
// a higher version come from a later pgtaskd and are not replaced.
const Version = 1

const versionPrefix = "pgtaskd schema "

var (
	versionText    = versionPrefix + strconv.Itoa(Version)
	versionPattern = regexp.MustCompile(regexp.QuoteMeta(versionPrefix) + `(\d+)`)
)

// versionOf returns the schema's version in a comment; 0: none.
func versionOf(comment string) int {
	match := versionPattern.FindStringSubmatch(comment)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1])
	return n
}
