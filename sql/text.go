package sql

import (
	"embed"
	"path"
	"strings"
	"sync"
)

//go:embed part/*.sql ask/*.sql door/*.sql
var files embed.FS

// Parts are the files of sql/part, which several statements share, without their comments.
var Parts = sync.OnceValue(func() map[string]string {
	all := Texts(files, "part")
	for name, text := range all {
		all[name] = strings.TrimSpace(Uncommented(text))
	}
	return all
})

// Texts are the files of an embedded folder, by their names without .sql.
func Texts(files embed.FS, folder string) map[string]string {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(err) // the folder is embedded
	}
	all := make(map[string]string, len(entries))
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join(folder, entry.Name()))
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(entry.Name(), ".sql")] = string(text)
	}
	return all
}

// Whole puts parts into a text that names no table.
func Whole(text string) string {
	return strings.NewReplacer(
		":prepared", Parts()["prepared"],
		":guarded", Guarded("c.oid", "below.whole"),
		":becoming", Parts()["becoming"],
	).Replace(text)
}

// Guarded is part/guarded.sql for that part of the table.
func Guarded(part, whole string) string {
	return strings.NewReplacer(":guarded_part", part, ":guarded_whole", whole).Replace(Parts()["guarded"])
}

// Uncommented is a text without the lines that are comments, and the blank ones before these.
func Uncommented(text string) string {
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

// Named puts the names into a text, and leaves the comments out.
func Named(text string, names map[string]string) string {
	return Fill(Uncommented(text), func(word string) (string, bool) {
		name, ok := names[word]
		return name, ok
	})
}

// Fill is text with the value of each :word, psql's notation for a variable, in its place. A
// word without a value stays, and so does a cast (::type).
func Fill(text string, value func(word string) (string, bool)) string {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(text, ":")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = text[len(before):]
		if strings.HasPrefix(text, "::") {
			b.WriteString("::")
			text = text[2:]
			continue
		}
		end := 1
		for end < len(text) && (text[end] == '_' || 'a' <= text[end] && text[end] <= 'z') {
			end++
		}
		if v, ok := value(text[:end]); ok {
			b.WriteString(v)
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
}
