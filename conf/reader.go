package conf

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// reader turns values into settings and collects their faults.
type reader struct {
	data    []byte
	decoder *json.Decoder
	faults  Faults // no more than mostFaults: each is looked up in data
	found   int    // how many there are
	secret  bool   // a connection string holds a password
}

func (r *reader) fault(v value, format string, args ...any) {
	if r.found++; r.found <= mostFaults {
		r.faults = append(r.faults, Fault{position(r.data, v.offset), v.place, fmt.Sprintf(format, args...)})
	}
}

// keys are the keys that an object may have, each with the function that reads its value.
type keys map[string]func(value)

// object reads an object all of whose keys must be known.
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

// DidYouMean asks for the name that is most like a word; "" if none is.
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

// shown is a value in an error message. Connection strings are never given to it.
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
