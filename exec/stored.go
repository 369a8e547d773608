package exec

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Stored is a text as a database of that encoding, by the server's name, can store it: what it has
// no character for is replaced by a question mark, and our own marks by what is like them. Of
// encodings whose characters are not known here only the marks are replaced.
func Stored(text, encoding string) string {
	if encoding == "UTF8" || encoding == "SQL_ASCII" || isASCII(text) {
		return text
	}
	charset := charsets[encoding]
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case r == utf8.RuneError:
			return '?'
		case charset == nil:
			return r
		}
		if _, ok := charset.EncodeRune(r); !ok {
			return '?'
		}
		return r
	}, plainMarks(text, encoding))
}

// plainMarks writes out the mark of a cut text where the encoding has no such character.
func plainMarks(text, encoding string) string {
	mark, _ := utf8.DecodeRuneInString(cutMark)
	if charset := charsets[encoding]; charset != nil {
		if _, ok := charset.EncodeRune(mark); !ok {
			return strings.ReplaceAll(text, cutMark, "...")
		}
	}
	return text
}

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
	}, strings.ReplaceAll(text, cutMark, "..."))
}

// isASCII tells whether a text is the same in each encoding.
func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decode translates text of the server's to UTF-8.
func (o *Output) decode(text []byte) []byte {
	decoded := make([]byte, 0, len(text))
	for _, b := range text {
		r := o.charset.DecodeByte(b)
		if r == 0 {
			r = utf8.RuneError
		}
		decoded = utf8.AppendRune(decoded, r)
	}
	return decoded
}

var charsets = map[string]*charmap.Charmap{
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3,
	"LATIN4": charmap.ISO8859_4, "LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10,
	"LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14, "LATIN9": charmap.ISO8859_15,
	"LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5, "ISO_8859_6": charmap.ISO8859_6,
	"ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
	"WIN866": charmap.CodePage866, "WIN874": charmap.Windows874, "WIN1250": charmap.Windows1250,
	"WIN1251": charmap.Windows1251, "WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253,
	"WIN1254": charmap.Windows1254, "WIN1255": charmap.Windows1255, "WIN1256": charmap.Windows1256,
	"WIN1257": charmap.Windows1257, "WIN1258": charmap.Windows1258,
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
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", string(utf8.RuneError))
	}
	return s
}
