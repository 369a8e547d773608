package sql

import (
	"embed"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

//go:embed ask/*.sql
var askFiles embed.FS

// LeadersName is the name of the table of controllers.
func LeadersName(t Table) string { return besides(t, "leader") }

// WhyName is the name of the function that says why a task waits.
func WhyName(t Table) string { return besides(t, "why") }

// besides is the name of an object beside the table. Where it is too long the table's name is cut, with a hash of it.
func besides(t Table, object string) string {
	const longest = 63
	name := t.Name + "_" + object
	if len(name) <= longest {
		return name
	}
	rest := "_" + t.hash()[:8] + "_" + object
	short := t.Name[:longest-len(rest)]
	for !utf8.ValidString(short) {
		short = short[:len(short)-1]
	}
	return short + rest
}

// Asking returns what people ask of a table: the texts of sql/ask, with the table's names in them.
func Asking(t Table) Queries {
	all := texts(askFiles, "ask")
	names := map[string]string{
		":table":   t.String(),
		":leaders": pgx.Identifier{t.Schema, LeadersName(t)}.Sanitize(),
		":why":     pgx.Identifier{t.Schema, WhyName(t)}.Sanitize(),
		":task":    strings.TrimSpace(all["task"]),
		":filter":  strings.TrimSpace(all["filter"]),
	}
	q := Queries{texts: map[string]string{}}
	for name, text := range all {
		q.texts[name] = named(text, names)
	}
	return q
}
