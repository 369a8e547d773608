package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// jsonLines writes the results of an Output in JSON.
type jsonLines struct{ *Output }

// jsonFormat writes each value of a row like jsonb.
var jsonFormat = Format{JSON: true, Quote: '"', Escape: '\\', Null: "null"}

// controls are the characters that a string of JSON has only escaped, besides quote and backslash.
var controls = func() string {
	var all [' ']byte
	for i := range all {
		all[i] = byte(i)
	}
	return string(all[:])
}()

// control returns the escape of one of controls.
func control(c byte) string {
	switch c {
	case '\b':
		return `\b`
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	case '\f':
		return `\f`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// start begins the line of a result. closing ends it; the limit has room for that.
func (o jsonLines) start(opening, closing string) {
	o.close()
	if o.begin(len(opening)+len(closing), lineBreak(o.open)) {
		o.text = append(o.text, opening...)
		o.closing = closing
	}
}

// close ends the line of a result. It drops a row that has come only in part.
func (o jsonLines) close() {
	if o.part.object {
		o.part.object = false
		o.text = o.text[:o.part.start]
	}
	o.text = append(o.text, o.closing...)
	o.closing = ""
}

// command writes the tag of a command.
func (o jsonLines) command(tag []byte) {
	const opening, closing = `{"command": "`, `"}`
	if o.begin(len(opening)+len(tag)+len(closing), lineBreak(o.open)) {
		o.text = append(o.text, opening...)
		o.value(tag, true)
		o.text = append(o.text, closing...)
		o.end()
	}
}

// rows begins a result with rows.
func (o jsonLines) rows(fields []pgproto3.FieldDescription) {
	o.start("[", "]")
	if o.over {
		return
	}
	for i, field := range fields {
		name := Output{format: jsonFormat, special: o.special}
		name.value(field.Name, true)
		o.current.keys = append(o.current.keys, separator(i)+`"`+string(name.text)+`": `)
		o.current.quoted = append(o.current.quoted, !isBare(field.DataTypeOID))
	}
}

// isBare tells whether values of this type need no quotes in JSON, as in the server's to_json.
func isBare(oid uint32) bool {
	switch oid {
	case 16, // bool
		20, 21, 23, // int8, int2, int4
		700, 701, 1700, // float4, float8, numeric
		114, 3802: // json, jsonb
		return true
	}
	return false
}

func separator(i int) string {
	if i > 0 {
		return ", "
	}
	return ""
}

// key returns the text before the value of column i. Only a server that is not PostgreSQL sends
// more values than columns.
func (o jsonLines) key(i int) string {
	if i < len(o.current.keys) {
		return o.current.keys[i]
	}
	return separator(i) + `"": `
}

// object begins a row.
func (o jsonLines) object(least int) bool {
	if !o.current.rows {
		o.Rows(nil)
	}
	before := "{"
	if o.current.filled {
		before = ", {"
	}
	o.part.object = o.begin(least+len("}"), before)
	o.current.filled = true
	return o.part.object
}

// settle makes JSON of a value without quotes. NaN and infinity, and what is no JSON, become
// strings. json can have line breaks between its parts.
func (o jsonLines) settle() {
	if o.over {
		return
	}
	value := o.text[o.part.value:]
	for i, c := range value {
		if c == '\n' || c == '\r' {
			value[i] = ' '
		}
	}
	switch {
	case string(value) == "t":
		o.text = append(o.text[:o.part.value], "true"...)
	case string(value) == "f":
		o.text = append(o.text[:o.part.value], "false"...)
	case !json.Valid(value):
		value = bytes.Clone(value)
		o.text, o.part.quoted = o.text[:o.part.value], true
		o.add(o.quote)
		for piece := range slices.Chunk(value, PieceMost) {
			o.Piece(piece)
		}
		o.EndValue()
	}
}
