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
	place  string // as in targets[1].sleep
	offset int    // of its first byte
	kind   kind
	text   string  // of a string; of a number or boolean as it is written
	fields []field // of an object, in their order
	items  []value // of a list
}

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
	place := ""
	if bytes.HasPrefix(data[w.next():], []byte("[")) {
		place = "targets" // a bare array has the places that it would have in an object
	}
	root, err := w.value(place)
	if err != nil { // only because there are too many values
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
		// Its offset is behind the offending byte, or at the end of the text.
		offset, message = max(int(syntax.Offset)-1, 0), syntax.Error()
	} else {
		return Fault{}, false
	}
	line, column := position(data, offset)
	return Fault{Line: line, Column: column, Message: message}, true
}

// validPrefix is the length of what is valid UTF-8 at the beginning of data.
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
}

// mostValues is how many values a configuration may have, so that not many times its length is held
// in memory.
const mostValues = 200_000

var errTooMany = fmt.Errorf("more than %d values", mostValues)

// next is the offset of the token that comes next.
func (w *walk) next() int {
	offset := int(w.decoder.InputOffset())
	return len(w.data) - len(bytes.TrimLeft(w.data[offset:], " \t\r\n:,"))
}

func (w *walk) value(place string) (value, error) {
	v := value{place: place, offset: w.next()}
	if w.values++; w.values > mostValues {
		return value{}, errTooMany
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
		member, err := w.value(join(v.place, key))
		if err != nil {
			return err
		}
		if seen[key] && len(w.faults) == mostFaults {
			continue
		}
		if seen[key] {
			line, column := position(w.data, offset)
			w.faults = append(w.faults, Fault{line, column, member.place, "given twice"})
			continue
		}
		seen[key] = true
		v.fields = append(v.fields, field{key, offset, member})
	}
	_, err := w.decoder.Token()
	return err
}

func (w *walk) list(v *value) error {
	for i := 0; w.decoder.More(); i++ {
		item, err := w.value(fmt.Sprintf("%s[%d]", v.place, i))
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := w.decoder.Token()
	return err
}

var plainKey = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

// join is the place of an object's member.
func join(place, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return fmt.Sprintf("%s[%q]", place, key)
	case place == "":
		return key
	default:
		return place + "." + key
	}
}
