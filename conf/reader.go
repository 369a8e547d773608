package conf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// kind is the type of a JSON value, in the words of an error message.
type kind string

const (
	object  kind = "an object"
	list    kind = "a list"
	text    kind = "a string"
	number  kind = "a number"
	boolean kind = "true or false"
	null    kind = "null"
)

// value is a JSON value with its position.
type value struct {
	place  string // as in targets[1].sleep; "": the whole text
	offset int    // of its first byte
	kind   kind
	text   string  // of a string; of a number or boolean as written
	fields []field // of an object, in the order of the text
	items  []value // of a list
}

type field struct {
	key    string
	offset int // of the key
	value  value
}

func (v value) has(key string) bool {
	return slices.ContainsFunc(v.fields, func(f field) bool { return f.key == key })
}

// member returns the place of an object's member.
func member(parent, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return fmt.Sprintf("%s[%q]", parent, key)
	case parent == "":
		return key
	}
	return parent + "." + key
}

var plainKey = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

// decode reads the text, which malformed has checked, into a tree. Go values would lose places,
// order and duplicate keys, which the reader needs to report faults.
func (r *reader) decode() value {
	r.decoder = json.NewDecoder(bytes.NewReader(r.data))
	r.decoder.UseNumber()
	place := ""
	if r.data[r.next()] == '[' {
		place = "targets" // where the targets would be in an object
	}
	return r.value(place)
}

// malformed finds the first byte that JSON does not allow. Invalid UTF-8 counts: encoding/json
// would put replacement characters into names.
func malformed(data []byte) error {
	offset, message := 0, ""
	var syntax *json.SyntaxError
	if !utf8.Valid(data) {
		offset, message = bytes.IndexByte(bytes.ToValidUTF8(data, []byte{0xff}), 0xff), "not UTF-8"
	} else if err := json.Unmarshal(data, new(json.RawMessage)); errors.As(err, &syntax) {
		// The offset is that after the wrong byte, or of the end of the text.
		offset = max(int(syntax.Offset)-1, 0)
		message = noJSON(data, offset, syntax.Error())
	} else {
		return nil
	}
	return Faults{{Position: position(data, offset), Message: message}}
}

// position turns the offset of a byte into line and column.
func position(data []byte, offset int) Position {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return Position{Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[start:]) + 1}
}

// next returns the offset of the next token.
func (r *reader) next() int {
	offset := int(r.decoder.InputOffset())
	return len(r.data) - len(bytes.TrimLeft(r.data[offset:], " \t\r\n:,"))
}

func (r *reader) value(place string) value {
	v := value{place: place, offset: r.next(), kind: null}
	token, _ := r.decoder.Token()
	switch token := token.(type) {
	case json.Delim:
		if v.kind = list; token == '{' {
			v.kind = object
		}
		seen := map[string]bool{}
		for r.decoder.More() {
			if v.kind == list {
				v.items = append(v.items, r.value(fmt.Sprintf("%s[%d]", place, len(v.items))))
				continue
			}
			offset := r.next()
			token, _ := r.decoder.Token()
			key, _ := token.(string)
			of := r.value(member(place, key))
			if seen[key] {
				r.fault(value{place: of.place, offset: offset}, "given twice")
				continue
			}
			seen[key] = true
			v.fields = append(v.fields, field{key, offset, of})
		}
		_, _ = r.decoder.Token()
	case string:
		v.kind, v.text = text, token
	case json.Number:
		v.kind, v.text = number, token.String()
	case bool:
		v.kind, v.text = boolean, strconv.FormatBool(token)
	}
	return v
}

// reader turns values into settings and collects faults.
type reader struct {
	data    []byte
	decoder *json.Decoder
	faults  Faults // at most mostFaults, as each is looked up in data
	found   int    // the number of all faults
	files   Faults // of files that only a server needs
	secret  bool   // a connection string holds a password
}

func (r *reader) fault(v value, format string, args ...any) {
	if r.found++; r.found <= mostFaults {
		r.faults = append(r.faults, Fault{position(r.data, v.offset), v.place, fmt.Sprintf(format, args...)})
	}
}

// keys are the allowed keys of an object, each with the function that reads its value.
type keys map[string]func(value)

// object reads an object and reports unknown keys.
func (r *reader) object(v value, known keys) {
	if v.kind != object {
		r.fault(v, "must be an object, not %s", v.kind)
		return
	}
	for _, f := range v.fields {
		if read, ok := known[f.key]; ok {
			read(f.value)
		} else {
			names := slices.Sorted(maps.Keys(known))
			hint := cmp.Or(DidYouMean(f.key, names), "; the keys are "+strings.Join(names, ", "))
			r.fault(value{place: f.value.place, offset: f.offset}, "unknown key%s", hint)
		}
	}
}

// DidYouMean returns a hint with the name that is most like a word; "" if no name is.
func DidYouMean(word string, names []string) string {
	const likely = 0.6
	best, score := "", likely
	for _, name := range names {
		match := levenshtein.Match(strings.ToLower(word), name, nil)
		if name != "" && strings.HasPrefix(word, name) { // sleep_ms, database
			match = 1
		}
		if match > score {
			best, score = name, match
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// shown writes a value for an error message. Callers never pass a connection string.
func shown(v value) string {
	const longest = 40
	switch {
	case v.kind == text && len(v.text) <= longest:
		return strconv.Quote(v.text)
	case v.kind == number && len(v.text) <= longest, v.kind == boolean:
		return v.text
	default:
		return string(v.kind)
	}
}
