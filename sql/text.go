package sql

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed apply/*.sql moving/*.sql moving/*/*.sql part/*.sql ask/*.sql door/*.sql lock/*.sql query/*.sql schema/*.sql schema/inspect/*.sql schema/beside/*.sql
var files embed.FS

// File is a file of this folder or one below it, as it is, by its path without .sql. An unknown one
// is a mistake in the program: File panics.
func File(path string) string {
	text, err := files.ReadFile(path + ".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Queries are the statements of a folder with the names of one table in them. Each is made when it
// is first asked for: there are many, and an idle table needs few. Any goroutine may ask.
type Queries struct {
	folder string
	names  map[string]string
	made   *sync.Map // text by name
}

// NewQueries returns the statements of that folder, with values for some words of theirs.
func NewQueries(folder string, names map[string]string) Queries {
	return Queries{folder, names, &sync.Map{}}
}

// Text returns the statement of that name, with $1, $2… for its parameters.
func (q Queries) Text(name string) string {
	text, ok := q.made.Load(name)
	if !ok {
		text, _ = q.made.LoadOrStore(name, Named(File(q.folder+"/"+name), q.names))
	}
	return text.(string)
}

// Named puts names into a text, and leaves the comments out. A word that is the name of a file of
// sql/part stands for that part, or for the value that it has in names. Both may contain names and
// other parts; other values are left as they are, since the name of a table may look like a word.
func Named(text string, names map[string]string) string {
	return Fill(uncommented(text), func(word string) (string, bool) {
		value, ok := names[word]
		part, err := files.ReadFile("part/" + word[1:] + ".sql")
		switch {
		case err != nil:
			return value, ok
		case !ok:
			value = string(part)
		}
		return Named(value, names), true
	})
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
	return strings.TrimSpace(b.String())
}

// Fill is text with the value of each :word, psql's notation for a variable, in its place. A
// word without a value stays, and so does a cast (::type).
func Fill(text string, value func(word string) (string, bool)) string {
	return words.ReplaceAllStringFunc(text, func(word string) string {
		if v, ok := value(word); ok {
			return v
		}
		return word
	})
}

// words finds a cast, too, so that its type is taken for no word.
var words = regexp.MustCompile(`::?[a-z_]*`)
