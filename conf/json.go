package conf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// kind is what a JSON value is, in the words of an error message.
type kind string

const (
	object  kind = "an object"
	list    kind = "a list"
	text    kind = "a string"
	number  kind = "a number"
	boolean kind = "true or false"
	null    kind = "null"
)

// value is a JSON value that knows where it stands.
type value struct {
	place  *place
	offset int // of its first byte
	kind   kind
	text   string  // of a string; of a number or boolean as it is written
	fields []field // of an object, in their order
	items  []value // of a list
}

// place is where a value stands, as in targets[1].sleep. It is written out only where that is
// shown: a long key may stand above many values. That of the whole is nil.
type place struct {
	parent *place
	key    string // of an object's member
	index  int    // of a list's item; -1: it is a member
}

func member(parent *place, key string) *place { return &place{parent, key, -1} }

// String writes a place.
func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return fmt.Sprintf("%s[%d]", p.parent, p.index)
	case !plainKey.MatchString(p.key):
		return fmt.Sprintf("%s[%q]", p.parent, p.key)
	case p.parent == nil:
		return p.key
	}
	return p.parent.String() + "." + p.key
}

var plainKey = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

type field struct {
	key    string
	offset int // of the key
	value  value
}

// decode reads a JSON text into a tree; encoding/json's own decoding would
// forget places, order and doubled keys. A text that is no JSON has one fault
// and no tree; doubled keys are faults of a tree that is otherwise whole.
func decode(data []byte) (value, Faults) {
	if fault, ok := malformed(data); ok {
		return value{}, Faults{fault}
	}
	w := walk{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	w.decoder.UseNumber()
	var top *place
	if bytes.HasPrefix(data[w.next():], []byte("[")) {
		top = member(nil, "targets") // a bare array has the places that it would have in an object
	}
	root, err := w.value(top)
	var fault Fault
	switch {
	case errors.As(err, &fault):
		return value{}, Faults{fault}
	case err != nil: // only because there are too many values
		return value{}, Faults{{Line: 1, Column: 1, Message: err.Error()}}
	}
	return root, w.faults
}

// malformed finds the first byte that can't stand in a JSON text. Invalid UTF-8
// is one: encoding/json would put replacement characters into names.
func malformed(data []byte) (Fault, bool) {
	offset, message := 0, ""
	var syntax *json.SyntaxError
	if !utf8.Valid(data) {
		offset, message = validPrefix(data), "not UTF-8"
	} else if err := json.Unmarshal(data, new(json.RawMessage)); errors.As(err, &syntax) {
		// Its offset is after the offending byte, or at the end of the text.
		offset, message = max(int(syntax.Offset)-1, 0), syntax.Error()
	} else {
		return Fault{}, false
	}
	line, column := position(data, offset)
	return Fault{Line: line, Column: column, Message: message}, true
}

// validPrefix is the length of the valid UTF-8 at the beginning of data.
func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// walk reads tokens and remembers where they were.
type walk struct {
	data    []byte
	decoder *json.Decoder
	faults  Faults
	values  int // so far
	depth   int // of the value that is read
}

// Limits of a configuration: without them, many times its length could be held in memory, or shown.
const (
	mostValues = 200_000
	mostDepth  = 32   // objects and lists in each other
	mostKey    = 1000 // bytes
)

var errTooMany = fmt.Errorf("more than %d values", mostValues)

// next is the offset of the token that comes next.
func (w *walk) next() int {
	offset := int(w.decoder.InputOffset())
	return len(w.data) - len(bytes.TrimLeft(w.data[offset:], " \t\r\n:,"))
}

func (w *walk) fault(offset int, place, message string) Fault {
	line, column := position(w.data, offset)
	return Fault{line, column, place, message}
}

func (w *walk) value(at *place) (value, error) {
	v := value{place: at, offset: w.next()}
	if w.values++; w.values > mostValues {
		return value{}, errTooMany
	}
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > mostDepth {
		return value{}, w.fault(v.offset, "", fmt.Sprintf("more than %d objects and lists in each other", mostDepth))
	}
	token, err := w.decoder.Token()
	if err != nil {
		return value{}, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			v.kind, err = object, w.object(&v)
		} else {
			v.kind, err = list, w.list(&v)
		}
	case string:
		v.kind, v.text = text, token
	case json.Number:
		v.kind, v.text = number, token.String()
	case bool:
		v.kind, v.text = boolean, strconv.FormatBool(token)
	default:
		v.kind = null
	}
	return v, err
}

func (w *walk) object(v *value) error {
	seen := map[string]bool{}
	for w.decoder.More() {
		offset := w.next()
		token, err := w.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if len(key) > mostKey {
			return w.fault(offset, v.place.String(), fmt.Sprintf("a key of more than %d bytes", mostKey))
		}
		child, err := w.value(member(v.place, key))
		if err != nil {
			return err
		}
		if seen[key] && len(w.faults) == mostFaults {
			continue
		}
		if seen[key] {
			w.faults = append(w.faults, w.fault(offset, child.place.String(), "given twice"))
			continue
		}
		seen[key] = true
		v.fields = append(v.fields, field{key, offset, child})
	}
	_, err := w.decoder.Token()
	return err
}

func (w *walk) list(v *value) error {
	for i := 0; w.decoder.More(); i++ {
		item, err := w.value(&place{parent: v.place, index: i})
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := w.decoder.Token()
	return err
}
