package conf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// reader turns values into settings and collects their faults.
type reader struct {
	data   []byte
	faults Faults // no more than mostFaults
	found  int    // how many there are
	secret bool   // a connection string holds a password
}

func (r *reader) fault(v value, format string, args ...any) {
	r.found++
	if r.found > mostFaults {
		return
	}
	line, column := position(r.data, v.offset)
	r.faults = append(r.faults, Fault{line, column, v.place.String(), fmt.Sprintf(format, args...)})
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
			r.fault(value{place: f.value.place, offset: f.offset}, "unknown key; %s", advice(f.key, known))
		}
	}
}

// advice names the key that was likely meant, or else all there are.
func advice(key string, known keys) string {
	names := slices.Sorted(maps.Keys(known))
	if name := Nearest(key, names); name != "" {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return "the keys are " + strings.Join(names, ", ")
}

// Nearest is the name that is most like a word, "" if none is.
func Nearest(word string, names []string) string {
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
	return best
}

// meant asks for the word that is nearest to a wrong one, if any is near.
func meant(v value, words []string) string {
	word := Nearest(v.text, words)
	if v.kind != text || word == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", word)
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
