package demo

import "embed"

//go:embed example query
var files embed.FS

// example is a statement that inserts tasks and returns their ids.
type example struct {
	name string // name of its file
	once bool   // it repeats itself; the demo inserts all others again and again
	own  bool   // only on the demo's own server
}

// examples are in the order in which the demo inserts them.
var examples = []example{
	{name: "hello"},
	{name: "planned"},
	{name: "at"},
	{name: "every", once: true},
	{name: "fails"},
	{name: "lane1"},
	{name: "lane2"},
	{name: "lane4"},
	{name: "pause"},
	{name: "timeout"},
	{name: "remote", own: true},
	{name: "format"},
	{name: "data"},
	{name: "notice"},
	{name: "stop"},
	{name: "tidy", once: true, own: true},
}

// load returns the examples for the demo's own server, or for another.
func load(own bool) []example {
	var wanted []example
	for _, e := range examples {
		if own || !e.own {
			wanted = append(wanted, e)
		}
	}
	return wanted
}

func (e example) sql() string  { return text("example/" + e.name) }
func query(name string) string { return text("query/" + name) }

// text returns an embedded file.
func text(name string) string {
	content, err := files.ReadFile(name + ".sql")
	if err != nil {
		panic(err) // only a wrong name makes this fail
	}
	return string(content)
}
