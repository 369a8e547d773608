package sql

import "embed"

// The schema's text, and the queries that look at what is there of it.
//
//go:embed schema/*.sql schema/inspect/*.sql schema/session/*.sql schema/beside/*.sql
var schemaFiles embed.FS

// text is an embedded file under schema/.
func text(name string) string {
	content, err := schemaFiles.ReadFile("schema/" + name + ".sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return string(content)
}
