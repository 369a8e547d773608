package schema

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

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

// wants tells whether the step is of use with that way of waking.
func wants(w sql.Wake, s step) bool {
	kind, name := s.kind, s.name
	switch {
	case kind == publicationStep:
		return w == sql.WAL
	case kind == triggerStep && name == changeTrigger:
		return w != sql.Poll
	}
	return true
}
