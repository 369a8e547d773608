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

// Quoted is the qualified name as SQL has it.
func (t Table) Quoted() string {
	return pgx.Identifier{t.Schema, t.Name}.Sanitize()
}

// String is the same, for messages.
func (t Table) String() string {
	return t.Quoted()
}

// Channel is the name under which the table's triggers NOTIFY all but new tasks, as their function
// pgtaskd_tell computes it.
func Channel(t Table) string {
	return "pgtaskd_" + t.Hash()
}

// Publication is the name of the table's own one. It needs no quotes.
func Publication(t Table) string { return "pgtaskd_" + t.Hash() }

// Hash is 16 hexadecimal digits that stand for the table where its name would be too long.
func (t Table) Hash() string {
	sum := sha256.Sum256([]byte(t.Quoted()))
	return hex.EncodeToString(sum[:8])
}

// IsWaitKey tells the name of the index by which at most one task of a key waits.
func IsWaitKey(index string) bool { return strings.HasSuffix(index, "_one_waits_idx") }
