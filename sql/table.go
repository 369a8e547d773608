package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Version is that of the schema; it stands in the comments of the table and of the functions. What
// has a higher one was made by a later pgtaskd and is not taken back.
const Version = 1

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

// Channel is the name under which the table's triggers NOTIFY what does not concern new tasks, as
// their function pgtaskd_tell computes it.
func Channel(t Table) string {
	return "pgtaskd_" + t.hash()
}

// hash is 16 hexadecimal digits that stand for the table where its name would be too long.
func (t Table) hash() string {
	sum := sha256.Sum256([]byte(t.Quoted()))
	return hex.EncodeToString(sum[:8])
}

// functionNames are those of the functions that the tables of a schema share.
func functionNames() []string {
	var all []string
	for _, s := range stepsOf(functionStep) {
		all = append(all, s.name)
	}
	return all
}

// IsWaitKey tells the name of the index by which at most one task of a key waits.
func IsWaitKey(index string) bool { return strings.HasSuffix(index, "_one_waits_idx") }

// names stand for the placeholders of a step.
type names struct {
	table Table
	state string // the type, qualified and quoted
	parts bool   // the table is partitioned

	serving  string // the role that serves the table, where tasks run under those that insert them
	inserter bool   // they do
}

// fill puts the names into a step's text. It is the only place where they meet.
func (n names) fill(sql string) string { return replaced(sql, n.of) }

// of is what a placeholder stands for.
func (n names) of(placeholder string) (value string, is bool) {
	if object, is := strings.CutPrefix(placeholder, ":bare_"); is {
		return plain(besideName(n.table, object)), true
	}
	if object, is := strings.CutPrefix(placeholder, ":its_"); is {
		if object, is = strings.CutSuffix(object, "_text"); is {
			return literal(plain(n.table.Schema, besideName(n.table, object))), true
		}
		return plain(n.table.Schema, besideName(n.table, object)), true
	}
	switch placeholder {
	case ":table_text":
		return literal(plain(n.table.Schema, n.table.Name)), true
	case ":schema_text":
		return literal(n.table.Schema), true
	case ":lead_class":
		return strconv.FormatUint(uint64(Leadership(n.table, false).class), 10), true
	case ":lead_first":
		return strconv.FormatUint(uint64(Leadership(n.table, false).number), 10), true
	case ":lead_last": // earlier versions had others up to this
		return strconv.FormatUint(uint64(Leadership(n.table, false).number)|(1<<24-1), 10), true
	case ":limits":
		return strconv.FormatInt(limitLocks, 10), true
	case ":serving":
		return literal(n.serving), true
	case ":serving_role":
		return plain(n.serving), true
	case ":id_sequence":
		return plain(n.table.Schema, cut(n.table.Name, maxName-len("_id_seq"))+"_id_seq"), true
	case ":async_security":
		if n.inserter {
			return "INVOKER", true
		}
		return "DEFINER", true
	case ":schema":
		return plain(n.table.Schema), true
	case ":table":
		return plain(n.table.Schema, n.table.Name), true
	case ":state":
		return n.state, true
	case ":hash":
		return n.table.hash(), true
	case ":wake":
		return strconv.FormatInt(wakeLocks, 10), true
	case ":root":
		if n.parts {
			return ", publish_via_partition_root = true", true
		}
		return "", true
	case ":version":
		return versionText, true
	}
	return "", false
}

// literal is a quoted string constant, whatever standard_conforming_strings says.
func literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// plain is a name as a person writes it: quoted where it must be.
func plain(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		if quoted[i] = part; !plainName.MatchString(part) || slices.Contains(reserved, part) {
			quoted[i] = pgx.Identifier{part}.Sanitize()
		}
	}
	return strings.Join(quoted, ".")
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// reserved are the words that are no names without quotes, on some version.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
	constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct do
	else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
	localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar some
	symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window with`)
