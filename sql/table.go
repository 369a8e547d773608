package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Table names a task table. The names are as in the catalog: unquoted, at most 63 bytes.
type Table struct {
	Schema, Name string
}

// String is the qualified name, quoted for SQL.
func (t Table) String() string { return pgx.Identifier{t.Schema, t.Name}.Sanitize() }

// Channel is the channel of the table's triggers for everything but new tasks. Their function
// pgtaskd_tell computes the same name.
func Channel(t Table) string { return "pgtaskd_" + t.Hash() }

// Publication is the name of the table's own publication. It needs no quotes.
func Publication(t Table) string { return "pgtaskd_" + t.Hash() }

// Hash returns 16 hexadecimal digits that stand for the table where its name would be too long.
func (t Table) Hash() string {
	sum := sha256.Sum256([]byte(t.String()))
	return hex.EncodeToString(sum[:8])
}

// IsWaitKey tells whether this is the index that lets only one task of a key wait.
func IsWaitKey(index string) bool { return strings.HasSuffix(index, "_one_waits_idx") }

// Wake is the way in which the leader learns of new tasks.
type Wake string

// The ways of waking. Auto means NOTIFY if the trigger is there or can be made, else Poll.
const (
	Auto   Wake = "auto"
	Notify Wake = "notify"
	WAL    Wake = "wal"
	Poll   Wake = "poll"
)

// Objects are the tables, views and functions beside a table, in the order in which they are made;
// schema/beside has a file for each. pgtaskd can serve the table without them, so it leaves an
// object of somebody else alone that has one of these names.
var Objects = []string{"leader", "session", "group", "act", "schedule", "run", "stat", "error", "why", "data", "async"}

// BesideName is the table's name, an underscore and the object. If that is too long, it is the
// beginning of the table's name with a hash.
func BesideName(t Table, object string) string {
	name := t.Name + "_" + object
	if len(name) <= MaxName {
		return name
	}
	rest := "_" + t.Hash()[:8] + "_" + object
	return Cut(t.Name, MaxName-len(rest)) + rest
}

// Beside is the qualified name of an object beside the table, quoted for SQL.
func Beside(t Table, object string) string {
	return pgx.Identifier{t.Schema, BesideName(t, object)}.Sanitize()
}

// BesideNames are the names of all objects beside the table.
func BesideNames(t Table) []string {
	all := make([]string, len(Objects))
	for i, object := range Objects {
		all[i] = BesideName(t, object)
	}
	return all
}
