package apply

import (
	"encoding/json"
	"strings"

	"pgtaskd/conf"
)

// value is one of a file, with the place where it stands.
type value struct {
	at     conf.Position
	kind   kind
	text   string  // of a scalar, as it is written
	items  []value // of a list
	fields []field // of a map, in their order
	quoted bool    // a scalar that can only be a text
}

type field struct {
	at    conf.Position // of the name
	name  string
	value value
}

// kind is the kind of a value, in the words of an error.
type kind string

const (
	null   kind = "null"
	scalar kind = "a value"
	list   kind = "a list"
	object kind = "a map"
)

// json is the value as JSON has it: plain scalars that are numbers or true and false there stay so.
func (v value) json() json.RawMessage {
	switch v.kind {
	case null:
		return json.RawMessage("null")
	case list:
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			parts[i] = string(item.json())
		}
		return json.RawMessage("[" + strings.Join(parts, ",") + "]")
	case object:
		parts := make([]string, len(v.fields))
		for i, f := range v.fields {
			parts[i] = string(quoted(f.name)) + ":" + string(f.value.json())
		}
		return json.RawMessage("{" + strings.Join(parts, ",") + "}")
	}
	if !v.quoted && json.Valid([]byte(v.text)) && !strings.HasPrefix(v.text, `"`) {
		return json.RawMessage(v.text)
	}
	return quoted(v.text)
}

// quoted is a text as JSON has it.
func quoted(text string) json.RawMessage {
	written, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text is without a way to write it
	}
	return written
}
