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

// String is the qualified name as SQL has it, quoted.
func (t Table) String() string { return pgx.Identifier{t.Schema, t.Name}.Sanitize() }

// Channel is the name under which the table's triggers NOTIFY all but new tasks, as their function
// pgtaskd_tell computes it.
func Channel(t Table) string { return "pgtaskd_" + t.Hash() }

// Publication is the name of the table's own one. It needs no quotes.
func Publication(t Table) string { return "pgtaskd_" + t.Hash() }

// Hash is 16 hexadecimal digits that stand for the table where its name would be too long.
func (t Table) Hash() string {
	sum := sha256.Sum256([]byte(t.String()))
	return hex.EncodeToString(sum[:8])
}

// IsWaitKey tells the name of the index by which at most one task of a key waits.
func IsWaitKey(index string) bool { return strings.HasSuffix(index, "_one_waits_idx") }

// Wake is how the leader comes to know of new tasks.
type Wake string

// The ways of waking. Auto is by NOTIFY where the trigger is there or can be made, else as Poll.
const (
	Auto   Wake = "auto"
	Notify Wake = "notify"
	WAL    Wake = "wal"
	Poll   Wake = "poll"
)

// Objects are the tables, views and functions beside a table, in the order in which they are made:
// schema/beside has a file of each. The table can be served without them, so something else that
// has the name of one of them is left alone.
var Objects = []string{"leader", "session", "group", "schedule", "run", "stat", "error", "why", "data", "async"}

// BesideName is the table's name with an underscore and the object. If that is too long, the
// table's name is cut, and a hash of it follows.
func BesideName(t Table, object string) string {
	name := t.Name + "_" + object
	if len(name) <= MaxName {
		return name
	}
	rest := "_" + t.Hash()[:8] + "_" + object
	return Cut(t.Name, MaxName-len(rest)) + rest
}

// Beside is the qualified name of an object beside the table, as SQL has it.
func Beside(t Table, object string) string {
	return pgx.Identifier{t.Schema, BesideName(t, object)}.Sanitize()
}

// BesideNames are those of all objects beside the table.
func BesideNames(t Table) []string {
	all := make([]string, len(Objects))
	for i, object := range Objects {
		all[i] = BesideName(t, object)
	}
	return all
}
