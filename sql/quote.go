package sql

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// MaxName is the longest name that the server keeps, in bytes.
const MaxName = 63

// Quoted returns a name as an identifier of SQL.
func Quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// Literal returns a quoted string constant that is right with any standard_conforming_strings.
func Literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// Plain returns a name as a person writes it: quoted only if necessary.
func Plain(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		if quoted[i] = part; !plainName.MatchString(part) || slices.Contains(reserved, part) {
			quoted[i] = pgx.Identifier{part}.Sanitize()
		}
	}
	return strings.Join(quoted, ".")
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// reserved are the words that need quotes as names in some version.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
	constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct do
	else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
	localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar some
	symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window with`)

// Cut returns the beginning of a name, at most this many bytes.
func Cut(name string, most int) string {
	for name = name[:min(most, len(name))]; !utf8.ValidString(name); {
		name = name[:len(name)-1]
	}
	return name
}

// Array returns a quoted string constant for an array of names.
func Array(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		if quoted[i] = name; Plain(name) == name {
			continue
		}
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return Literal("{" + strings.Join(quoted, ",") + "}")
}
