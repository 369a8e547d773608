package sql

import "sync"

var doorTexts = sync.OnceValue(func() map[string]string { return Texts(files, "door") })

// Door is a statement by which package door looks who could turn a table against its serving role.
// An unknown name is a mistake in the program: Door panics.
func Door(name string) string {
	text, ok := doorTexts()[name]
	if !ok {
		panic("no statement " + name)
	}
	return text
}
