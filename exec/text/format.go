package text

import "unicode/utf8"

// Format says how a task wants its results shown.
type Format struct {
	Delimiter byte   // between the values of a row; 0: nothing
	Escape    byte   // before Quote and Escape inside quoted values; 0: nothing
	Quote     byte   // around values; 0: nothing
	Null      string // in place of NULL
	Header    bool   // names above the rows of results with more than one column
	String    bool   // quote no numbers, booleans and the like
}

// character is the text of one byte: of none that is none by itself. 0 is no text.
func character(b byte) string {
	switch {
	case b == 0:
		return ""
	case b >= utf8.RuneSelf:
		return unreadable
	}
	return string(rune(b))
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
