package exec

import (
	"strings"
	"unicode/utf8"
)

// ASCII is a text as any database can store it.
func ASCII(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, text)
}

// isASCII tells whether a text is the same in each encoding.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isString reports whether values of a built-in type are quoted when only strings are. Of a domain
// the server names the type below.
func isString(oid uint32) bool {
	switch oid {
	case 16, // bool
		20, 21, 23, // int8, int2, int4
		26, 27, 28, 29, 5069, // oid, tid, xid, cid, xid8
		700, 701, 1700, // float4, float8, numeric
		1560: // bit
		return false
	}
	return true
}

// validText makes any bytes a text that PostgreSQL stores: valid UTF-8 without NUL.
func validText(s string) string {
	s = strings.ToValidUTF8(s, unreadable)
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", unreadable)
	}
	return s
}
