package sql

import (
	"embed"
	"strings"
	"sync"
)

// The schema's text, and the queries that look at what is there of it.
//
//go:embed schema/*.sql schema/inspect/*.sql schema/session/*.sql schema/beside/*.sql
var schemaFiles embed.FS

// private takes from others what default privileges have given to them of a new table, unwatched the
// triggers that they may have made.
var (
	//go:embed schema/session/private.sql
	private string
	//go:embed schema/session/unwatched.sql
	unwatched string
)

// schemaTexts are the files that have been asked for, by name: connections keep the queries, and
// all targets those of one string.
var schemaTexts sync.Map

// text is an embedded file under schema/, whole.
func text(name string) string {
	if text, ok := schemaTexts.Load(name); ok {
		return text.(string)
	}
	content, err := schemaFiles.ReadFile("schema/" + name + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, _ := schemaTexts.LoadOrStore(name, whole(string(content)))
	return text.(string)
}

// whole puts into the text of a file under schema/ what several of them share: session/private.sql
// and unwatched.sql, and from part/ what tells of memberships, of prepared transactions, of names
// that have come to be somebody else's, and of what a dump has brought.
func whole(text string) string {
	for _, indent := range []string{"    ", "        "} {
		text = strings.ReplaceAll(text, "\n"+indent+":firm\n", "\n"+comment.ReplaceAllString(shared()["firm"], ""))
	}
	return readable(strings.NewReplacer(
		"    :private\n", comment.ReplaceAllString(private, ""),
		"    :unwatched\n", comment.ReplaceAllString(unwatched, ""),
		":memberships\n", comment.ReplaceAllString(shared()["memberships"], ""),
		":prepared\n", comment.ReplaceAllString(shared()["prepared"], ""),
		":stands\n", comment.ReplaceAllString(shared()["stands"], ""),
		"        :sealed\n", comment.ReplaceAllString(shared()["sealed"], ""),
		":leaders\n", comment.ReplaceAllString(shared()["leaders"], ""),
	).Replace(text))
}
