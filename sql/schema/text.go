package schema

import (
	"embed"
	"strings"
	"sync"

	"pgtaskd/sql"
)

// The schema's text, and the queries that look at a table.
//
//go:embed *.sql inspect/*.sql beside/*.sql
var schemaFiles embed.FS

// schemaTexts are the files that have been asked for, by name: connections keep the queries, and
// all targets those of one string.
var schemaTexts sync.Map

// text is an embedded file, whole.
func text(name string) string {
	if text, ok := schemaTexts.Load(name); ok {
		return text.(string)
	}
	content, err := schemaFiles.ReadFile(name + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, _ := schemaTexts.LoadOrStore(name, sql.Whole(string(content)))
	return text.(string)
}

// bareText is a file without its comments.
func bareText(name string) string { return strings.TrimSpace(sql.Uncommented(text(name))) }
