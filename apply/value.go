package apply

import (
	"encoding/json"
	"strings"

	"pgtaskd/conf"
)

// value is a value of a file, with its position.
type value struct {
	at     conf.Position
	kind   kind
	text   string  // of a scalar, as written
	items  []value // of a list
	fields []field // of a map, in the order of the file
	quoted bool    // a scalar that is always a text
	cut    bool    // a scalar without quotes, which a comment follows
}

type field struct {
	at    conf.Position // of the name
	name  string
	value value
}

// kind is the type of a value, in the words of an error.
type kind string

const (
	null   kind = "null"
	scalar kind = "a value"
	list   kind = "a list"
	object kind = "a map"
)

// json returns the value as JSON. Plain scalars that are numbers or booleans in JSON stay so.
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

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage {
	written, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text can be encoded
	}
	return written
}
