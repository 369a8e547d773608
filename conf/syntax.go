package conf

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// mistakes are what people write that JSON does not allow, by the byte at fault, with what to do.
var mistakes = map[byte]string{
	'/':  "JSON has no comments: delete this one",
	'#':  "JSON has no comments: delete this one",
	'\'': `texts stand in double quotes: "…"`,
	';':  "there must be a comma in place of ;",
	0xe2: `texts stand in straight double quotes: "…"`, // the first byte of “ and ”
}

// reasons are the same by a part of the parser's text, for other bytes. The first that matches
// counts.
var reasons = []struct{ part, message string }{
	{"string escape", `a backslash in a text is written twice: \\`},
	{"in \\u", "after \\u there must be four hexadecimal digits"},
	{"in string literal", "a text has no line breaks or tabs; it ends with a double quote"},
	{"in literal", "a text stands in double quotes; true, false and null do not, and have small letters"},
	{"object key string", `a key stands in double quotes: "targets"`},
	{"after object key:value pair", "before this there must be a comma, or }"},
	{"after object key", "after a key there must be a colon"},
	{"after array element", "before this there must be a comma, or ]"},
	{"after top-level value", "the configuration has ended before this: delete the rest"},
	{"in numeric literal", "is no number of JSON; a text stands in double quotes"},
	{"beginning of value", "a text stands in double quotes; true, false and null do not, and have small letters"},
}

// noJSON says what to do about the byte at which the parser stops.
func noJSON(data []byte, offset int, parser string) string {
	before := bytes.TrimRight(data[:min(offset, len(data))], " \t\r\n")
	switch rest := data[len(before):]; {
	case len(bytes.TrimSpace(data)) == 0:
		return `the file is empty; without targets it is {"targets": []}`
	case strings.HasPrefix(parser, "unexpected end"):
		return `the file ends too early: a }, ] or " is missing`
	case len(before) == 0 && data[offset] != '/' && data[offset] != '#', len(before) < 2 && strings.Contains(parser, "in literal"):
		return "a configuration is JSON: it begins with { or ["
	case bytes.HasSuffix(before, []byte(",")) && strings.ContainsRune("]}", rune(data[offset])):
		return "a comma stands before " + string(data[offset]) + ": delete it"
	case len(rest) == 0 || strings.Contains(parser, "in string"):
	case mistakes[data[offset]] != "":
		return mistakes[data[offset]]
	}
	for _, r := range reasons {
		if strings.Contains(parser, r.part) {
			return r.message
		}
	}
	wrong, _ := utf8.DecodeRune(data[offset:])
	return "JSON has no " + string(wrong) + " here"
}
