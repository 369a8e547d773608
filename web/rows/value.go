package rows

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
)

// MarshalJSON makes an object with the columns in the order of the table. Then come the lengths of
// Texts and of other long values, and why, unless the table has columns with these names.
func (t *Whole) MarshalJSON() ([]byte, error) {
	var pairs []string
	seen := map[string]bool{}
	put := func(name string, value any) error {
		key, _ := json.Marshal(name) // a text always encodes
		text, err := json.Marshal(value)
		if err == nil && !seen[name] {
			pairs, seen[name] = append(pairs, string(key)+":"+string(text)), true
		}
		return err
	}
	for _, f := range t.Fields {
		if err := put(f.Name, f.value()); err != nil {
			return nil, err
		}
	}
	for _, f := range t.Fields {
		if f.Cut || f.Text != nil && slices.Contains(Texts, f.Name) {
			_ = put(f.Name+"_bytes", f.Bytes) // a number always encodes
		}
	}
	_ = put("why", t.Why)
	return []byte("{" + strings.Join(pairs, ",") + "}"), nil
}

// value returns the value in JSON.
func (f *Field) value() any {
	if f.Text == nil {
		return nil
	}
	return Value(f.kind, *f.Text)
}

// Value returns a value of a type, as the server writes it, for JSON: numbers, booleans and JSON
// stay what they are. Values that JSON cannot hold are text: NaN, the beginning of a long value.
func Value(kind uint32, text string) any {
	switch kind {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID, pgtype.JSONOID, pgtype.JSONBOID:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case pgtype.BoolOID:
		return text == "t"
	case pgtype.TimestamptzOID:
		return human.ISO(text)
	case pgtype.Int8ArrayOID:
		if array := "[" + strings.ToLower(strings.Trim(text, "{}")) + "]"; json.Valid([]byte(array)) {
			return json.RawMessage(array)
		}
	}
	return text
}
