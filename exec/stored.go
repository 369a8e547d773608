package exec

import (
	"strings"
	"unicode/utf8"
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
