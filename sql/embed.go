package sql

import (
	"embed"
	"strings"
	"sync"
)

// The schema's text, and the queries that look at what is there of it.
//
//go:embed schema/*.sql schema/inspect/*.sql schema/beside/*.sql
var schemaFiles embed.FS

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

// whole puts into the text of a file under schema/ the parts that several of them share.
func whole(text string) string {
	return strings.NewReplacer(
		":prepared\n", uncommented(shared()["prepared"]),
		":guarded", guarded("c.oid", "below.whole"),
		":becoming", strings.TrimSpace(uncommented(shared()["becoming"])),
	).Replace(text)
}

// uncommented is a text without the lines that are comments, and the blank ones before these.
func uncommented(text string) string {
	var b strings.Builder
	blank := ""
	for line := range strings.Lines(text) {
		switch rest := strings.TrimSpace(line); {
		case rest == "":
			blank += line
		case strings.HasPrefix(rest, "--"):
			blank = ""
		default:
			b.WriteString(blank + line)
			blank = ""
		}
	}
	return b.String() + blank
}

// guarded is part/guarded.sql for that part of the table.
func guarded(part, whole string) string {
	return strings.TrimSpace(strings.NewReplacer(":guarded_part", part, ":guarded_whole", whole).Replace(uncommented(shared()["guarded"])))
}
