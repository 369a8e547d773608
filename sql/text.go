package sql

import (
	"cmp"
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed apply/*.sql page/*.sql moving/*.sql moving/*/*.sql part/*.sql ask/*.sql door/*.sql lock/*.sql query/*.sql schema/*.sql schema/inspect/*.sql schema/beside/*.sql
var files embed.FS

// File returns a file of this folder or of one below it, unchanged, by its path without .sql. It
// panics if there is no such file, since that is a mistake in the program.
func File(path string) string {
	text, err := files.ReadFile(path + ".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Queries are the statements of a folder, filled in with the names of one table. It fills in a
// statement when somebody first asks for it: there are many, and an idle table needs few. Any
// goroutine may ask.
type Queries struct {
	folder string
	names  map[string]string
	made   *sync.Map // text by name
}

// NewQueries returns the statements of that folder; names has the values of some of their words.
func NewQueries(folder string, names map[string]string) Queries {
	return Queries{folder, names, &sync.Map{}}
}

// Without adds columns that the table lacks to names: statements read these values instead.
func Without(names, columns map[string]string) {
	for column, value := range columns {
		names["."+column] = value
	}
}

// Text returns the statement of that name, with $1, $2… for its parameters.
func (q Queries) Text(name string) string {
	text, ok := q.made.Load(name)
	if !ok {
		text, _ = q.made.LoadOrStore(name, Named(File(q.folder+"/"+name), q.names))
	}
	return text.(string)
}

// Named replaces words of a text by names and removes the comments. A word that is the name of a
// file in sql/part stands for that part, or for its value in names; both may contain names and other
// parts. Other values are not searched for words, since the name of a table may look like one. Names
// after a point are columns, written x.column, that the table lacks.
func Named(text string, names map[string]string) string {
	text = qualified.ReplaceAllStringFunc(uncommented(text), func(column string) string { return cmp.Or(names[column[1:]], column) })
	return Fill(text, func(word string) (string, bool) {
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

var qualified = regexp.MustCompile(`\b[a-z]\.\w+\b`)

// uncommented removes the comment lines of a text, and the blank lines before them.
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

// Fill replaces each :word (psql's notation for a variable) by its value. Words without a value
// stay, and so do casts (::type).
func Fill(text string, value func(word string) (string, bool)) string {
	return words.ReplaceAllStringFunc(text, func(word string) string {
		if v, ok := value(word); ok {
			return v
		}
		return word
	})
}

// words matches casts, too, so that Fill does not take their types for words.
var words = regexp.MustCompile(`::?[a-z_]*`)
