package traits

import (
	"hash/maphash"
	"strings"
)

// lexer splits SQL into the few kinds of tokens that the examiner needs. It reads strings, names
// and comments like the server's own scanner, and puts the rest together. It never fails: an
// unterminated token ends with the input. Plain strings have no backslash escapes
// (standard_conforming_strings).
type lexer struct {
	input string
	next  int // offset of the first unread byte
}

type token struct {
	kind tokenKind
	text string // the word, or the raw text between the quotes of a name or string
}

type tokenKind uint8

const (
	tokenEnd       tokenKind = iota // end of the input
	tokenWord                       // a keyword or a name without quotes
	tokenName                       // "name"
	tokenCodedName                  // U&"name", which can spell any other name
	tokenString                     // '…', E'…', $tag$…$tag$ and so on
	tokenOpen                       // (
	tokenSemicolon                  // ;
	tokenOther                      // a run of numbers, operators and other punctuation
)

// class says what kind of token a byte may begin.
type class uint8

const (
	classOther class = iota
	classDigit
	classBlank
	classLetter // also _ and all bytes of non-ASCII characters
	classMark   // may begin a string, name, comment or token of one byte
)

var classes = func() (table [256]class) {
	for b := range table {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			table[b] = classLetter
		case b >= '0' && b <= '9':
			table[b] = classDigit
		case b == ' ', b >= '\t' && b <= '\r':
			table[b] = classBlank
		case strings.IndexByte(`'"$(;-/`, byte(b)) >= 0:
			table[b] = classMark
		}
	}
	return table
}()

// token reads the next token. It skips blanks and comments.
func (l *lexer) token() token {
	l.skipBlank()
	if l.next >= len(l.input) {
		return token{kind: tokenEnd}
	}
	start := l.next
	switch b := l.input[start]; {
	case classes[b] == classLetter:
		return l.wordOrPrefixed()
	case b == '\'':
		return token{tokenString, l.enclosed(1, '\'')}
	case b == '"':
		return token{tokenName, l.enclosed(1, '"')}
	case b == '(':
		l.next++
		return token{tokenOpen, "("}
	case b == ';':
		l.next++
		return token{tokenSemicolon, ";"}
	case b == '$':
		if tag := l.dollarTag(); tag != "" {
			return token{tokenString, l.dollarString(tag)}
		}
	}
	l.next++ // also a mark that begins nothing: $1, a minus, a slash
	for l.next < len(l.input) && classes[l.input[l.next]] <= classBlank {
		l.next++
	}
	return token{tokenOther, l.input[start:l.next]}
}

// skipBlank skips blanks and comments. As in the server's scanner, comments may begin in the middle
// of operators.
func (l *lexer) skipBlank() {
	for l.next < len(l.input) {
		rest := l.input[l.next:]
		switch b := classes[rest[0]]; {
		case b == classBlank:
			l.next++
		case b != classMark:
			return
		case strings.HasPrefix(rest, "--"):
			l.skipLine()
		case strings.HasPrefix(rest, "/*"):
			l.skipComment()
		default:
			return
		}
	}
}

// skipLine goes to the end of the line; a carriage return ends it as well.
func (l *lexer) skipLine() {
	if i := strings.IndexAny(l.input[l.next:], "\r\n"); i >= 0 {
		l.next += i
		return
	}
	l.next = len(l.input)
}

// skipComment skips a /* comment */, which may contain others.
func (l *lexer) skipComment() {
	l.next += len("/*")
	for depth := 1; depth > 0 && l.next < len(l.input); {
		rest := l.input[l.next:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.next += len("/*")
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.next += len("*/")
		default:
			l.next++
		}
	}
}

// wordOrPrefixed reads a word, or a string or name with a prefix like E'…'.
func (l *lexer) wordOrPrefixed() token {
	rest := l.input[l.next:]
	if len(rest) > 1 {
		switch first, second := rest[0]|0x20, rest[1]; {
		case first == 'e' && second == '\'':
			return token{tokenString, l.escaped(2)}
		case second == '\'' && (first == 'b' || first == 'x' || first == 'n'):
			return token{tokenString, l.enclosed(2, '\'')}
		case first == 'u' && strings.HasPrefix(rest[1:], "&'"):
			return token{tokenString, l.enclosed(3, '\'')}
		case first == 'u' && strings.HasPrefix(rest[1:], `&"`):
			return token{tokenCodedName, l.enclosed(3, '"')}
		}
	}
	end := 1
	for end < len(rest) && (rest[end] == '$' || isLetterOrDigit(rest[end])) {
		end++
	}
	l.next += end
	return token{tokenWord, rest[:end]}
}

func isLetterOrDigit(b byte) bool {
	return classes[b] == classLetter || classes[b] == classDigit
}

// enclosed reads the text between two quotes. The opening quote is the last of the next width
// bytes. A doubled quote belongs to the text.
func (l *lexer) enclosed(width int, quote byte) string {
	start := l.next + width
	for l.next = start; ; {
		i := strings.IndexByte(l.input[l.next:], quote)
		if i < 0 {
			l.next = len(l.input)
			return l.input[start:]
		}
		end := l.next + i
		l.next = end + 1
		if l.next >= len(l.input) || l.input[l.next] != quote {
			return l.input[start:end]
		}
		l.next++
	}
}

// escaped reads a string with backslash escapes. The string goes on if another quote follows after
// a line break.
func (l *lexer) escaped(width int) string {
	start := l.next + width
	for l.next = start; l.next < len(l.input); {
		end := l.next
		l.next++
		switch l.input[end] {
		case '\\':
			l.next = min(end+2, len(l.input))
		case '\'':
			if l.next < len(l.input) && l.input[l.next] == '\'' {
				l.next++
			} else if !l.continued() {
				return l.input[start:end]
			}
		}
	}
	return l.input[start:]
}

// continued tells whether the string goes on after its closing quote, and moves into the next part.
// A next part begins with a quote after blanks and line comments with at least one line break.
func (l *lexer) continued() bool {
	ahead := lexer{input: l.input, next: l.next}
	for ahead.next < len(ahead.input) {
		rest := ahead.input[ahead.next:]
		switch {
		case classes[rest[0]] == classBlank:
			ahead.next++
		case strings.HasPrefix(rest, "--"):
			ahead.skipLine()
		case rest[0] == '\'' && strings.ContainsAny(l.input[l.next:ahead.next], "\r\n"):
			l.next = ahead.next + 1
			return true
		default:
			return false
		}
	}
	return false
}

// dollarTag returns the opening $tag$ at this place, or "".
func (l *lexer) dollarTag() string {
	rest := l.input[l.next:]
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '$':
			return rest[:i+1]
		case classes[rest[i]] != classLetter && (i == 1 || classes[rest[i]] != classDigit):
			return ""
		}
	}
	return ""
}

func (l *lexer) dollarString(tag string) string {
	start := l.next + len(tag)
	i := strings.Index(l.input[start:], tag)
	if i < 0 {
		l.next = len(l.input)
		return l.input[start:]
	}
	l.next = start + i + len(tag)
	return l.input[start : start+i]
}

// addTo adds the token to the input's shape, without values.
func (t token) addTo(shape *maphash.Hash) {
	_ = shape.WriteByte(byte(t.kind))
	switch t.kind {
	case tokenWord, tokenName, tokenCodedName:
		_, _ = shape.WriteString(t.text)
	case tokenOther:
		for _, b := range []byte(t.text) {
			if classes[b] != classDigit && classes[b] != classBlank {
				_ = shape.WriteByte(b)
			}
		}
	}
}
