package sql

import (
	"embed"
	"sync"
)

// The schema's text, and the queries that look at what is there of it.
//
//go:embed schema/*.sql schema/inspect/*.sql schema/session/*.sql schema/beside/*.sql
var schemaFiles embed.FS

// schemaTexts are the files that have been asked for, by name: connections keep the queries, and
// all targets those of one string.
var schemaTexts sync.Map

// text is an embedded file under schema/.
func text(name string) string {
	if text, ok := schemaTexts.Load(name); ok {
		return text.(string)
	}
	content, err := schemaFiles.ReadFile("schema/" + name + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, _ := schemaTexts.LoadOrStore(name, string(content))
	return text.(string)
}
