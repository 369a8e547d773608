package sql

import "sync"

var doorTexts = sync.OnceValue(func() map[string]string { return texts("door") })

// Door is a statement by which package door looks who could turn a table against its serving role.
// An unknown name is a mistake in the program: Door panics.
func Door(name string) string {
	text, ok := doorTexts()[name]
	if !ok {
		panic("no statement " + name)
	}
	return text
}

// Ours are the names in the table's schema that pgtaskd's statements use, a LIKE pattern for the
// rest of them, and the name of the register of sessions.
func Ours(t Table) (names []string, pattern, register string) {
	return besideNames(t), `pgtaskd\_%`, besideName(t, "session")
}

// AsyncName is the name of the table's function for asynchronous triggers.
func AsyncName(t Table) string { return besideName(t, "async") }
