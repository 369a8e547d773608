package sql

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed query/*.sql
var queries embed.FS

// Queries are the operations on one table: the texts of sql/query, with the table's names in them. They are not changed after they
// have been made, and may be used by any goroutine.
type Queries struct {
	texts map[string]string
	done  []string // done.sql between its variables, which stand at the odd places
}

// Queries returns the operations on the table that was described. :table stands in them for its name, :state for the type of its
// states, :copied for the columns that a repetition copies and :copied_of_t for the same of the row t.
func (d Description) Queries(t Table) Queries {
	of := make([]string, len(d.Copied))
	for i, column := range d.Copied {
		of[i] = "t." + column
	}
	names := map[string]string{
		":table":       t.String(),
		":state":       d.StateType,
		":copied":      strings.Join(d.Copied, ", "),
		":copied_of_t": strings.Join(of, ", "),
	}
	entries, err := queries.ReadDir("query")
	if err != nil {
		panic(err) // the folder is embedded
	}
	q := Queries{texts: map[string]string{}}
	for _, entry := range entries {
		text, err := queries.ReadFile("query/" + entry.Name())
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(entry.Name(), ".sql")
		parts := split(string(text), names)
		q.texts[name] = strings.Join(parts, "")
		if name == "done" {
			q.done = parts
		}
	}
	return q
}

// Text returns the operation of that name, with $1, $2… for its parameters. An unknown name is a mistake in the program: Text panics.
func (q Queries) Text(name string) string {
	text, ok := q.texts[name]
	if !ok {
		panic("no query " + name)
	}
	return text
}

// Done returns the operation done with literals in the places of its variables, for a message without parameters.
func (q Queries) Done(literals map[string]string) string {
	var b strings.Builder
	for i, part := range q.done {
		if i%2 == 1 {
			part = literals[part]
		}
		b.WriteString(part)
	}
	return b.String()
}

// Repeat returns the operation repeat for one task, given as a literal.
func (q Queries) Repeat(id string) string {
	return strings.Replace(q.texts["repeat"], "ANY ($1)", "ANY (ARRAY["+id+"]::int8[])", 1)
}

// variable is psql's notation for a variable. A cast (::type) looks the same from its second colon on.
var variable = regexp.MustCompile(`:[a-z_]+`)

// split puts the names that are known into a text and cuts it at the other variables. Comments are left out.
func split(text string, names map[string]string) []string {
	text = comment.ReplaceAllString(text, "")
	parts := []string{""}
	end := 0
	for _, at := range variable.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		before := text[end:at[0]]
		end = at[1]
		name, known := names[word]
		switch cast := strings.HasSuffix(before, ":"); {
		case known:
			parts[len(parts)-1] += before + name
		case cast:
			parts[len(parts)-1] += before + word
		default:
			parts[len(parts)-1] += before
			parts = append(parts, word[1:], "")
		}
	}
	parts[len(parts)-1] += text[end:]
	return parts
}

var comment = regexp.MustCompile(`(?m)^\s*--.*\n`)
