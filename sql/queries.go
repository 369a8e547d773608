package sql

import "sync"

// Queries are statements with the names of one table in them. Each is made when it is first asked
// for: there are many, and an idle table needs few. Any goroutine may ask.
type Queries struct {
	texts map[string]string // without names; shared by all tables
	names map[string]string
	made  *sync.Map // text by name
}

// NewQueries puts the names, and those of Parts among them, into texts.
func NewQueries(texts, names map[string]string) Queries {
	return Queries{texts, names, &sync.Map{}}
}

// Text returns the statement of that name, with $1, $2… for its parameters. An unknown name is a
// mistake in the program: Text panics.
func (q Queries) Text(name string) string {
	if text, ok := q.made.Load(name); ok {
		return text.(string)
	}
	file, ok := q.texts[name]
	if !ok {
		panic("no query " + name)
	}
	text, _ := q.made.LoadOrStore(name, q.spelled(file))
	return text.(string)
}

// spelled is a text with the names in it. A part may contain names and other parts; the name of a
// table may look like one of these words, and is left as it is.
func (q Queries) spelled(text string) string {
	return Fill(Uncommented(text), func(word string) (string, bool) {
		value, ok := q.names[word]
		if _, part := Parts()[word[1:]]; part {
			value = q.spelled(value)
		}
		return value, ok
	})
}
