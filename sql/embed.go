package sql

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

// The schema's text, and the queries that look at what is there of it.
//
//go:embed schema/*.sql schema/inspect/*.sql schema/session/*.sql schema/beside/*.sql
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

// whole puts into the text of a file under schema/ what several of them share: parts of blocks that
// stand under session/, and from part/ what tells of memberships, of what a type is made of, of prepared
// transactions, of names that have come to be somebody else's, and of what a dump has brought.
func whole(text string) string {
	for _, indent := range []string{"    ", "        "} {
		text = strings.ReplaceAll(text, "\n"+indent+":firm\n", "\n"+uncommented(shared()["firm"]))
	}
	for _, name := range []string{"here", "make_way", "ours", "private", "revoked", "uncalled", "unwatched"} { // private has revoked in it
		if place := "    :" + name + "\n"; strings.Contains(text, place) {
			content, err := schemaFiles.ReadFile("schema/session/" + name + ".sql")
			if err != nil {
				panic(err) // the file is part of the program
			}
			text = strings.ReplaceAll(text, place, uncommented(string(content)))
		}
	}
	for _, name := range []string{"leaders", "stands", "unheld"} {
		text = strings.ReplaceAll(text, ":"+name+"\n", uncommented(shared()[name]))
	}
	text = changedRow.ReplaceAllStringFunc(text, changed)
	return readable(strings.NewReplacer(
		":memberships\n", uncommented(shared()["memberships"]),
		":prepared\n", uncommented(shared()["prepared"]),
		"        :sealed_function\n", sealedIn("pg_proc"),
		"        :sealed\n", sealedIn("pg_class"),
		":guarded", guarded("c.oid", "below.whole"),
		":closed_here", closed("here"), ":closed_told", closed("$4::pg_catalog.text"), ":closed_since", closed("'-'"),
		":full_xmin", strings.TrimSpace(uncommented(shared()["full_xmin"])),
		":unshared", strings.TrimSpace(uncommented(shared()["unshared"])),
		":made_of\n", uncommented(shared()["made_of"]),
		":usable", strings.TrimSpace(uncommented(shared()["usable"])),
		":becoming", strings.TrimSpace(uncommented(shared()["becoming"])),
	).Replace(text))
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

// closed is part/closed.sql, with how the comment ends but for two numbers.
func closed(end string) string {
	return strings.TrimSpace(strings.ReplaceAll(uncommented(shared()["closed"]), ":end", end))
}

var changedRow = regexp.MustCompile(`:changed_[a-z]\b`)

// changed is part/changed.sql for the row whose name comes last in that of the place.
func changed(place string) string {
	return strings.TrimSpace(strings.ReplaceAll(uncommented(shared()["changed"]), ":row", place[len(":changed_"):]))
}

// sealedIn is part/sealed.sql for what is in that catalog.
func sealedIn(catalog string) string {
	return strings.ReplaceAll(uncommented(shared()["sealed"]), ":catalog", "'pg_catalog."+catalog+"'")
}
